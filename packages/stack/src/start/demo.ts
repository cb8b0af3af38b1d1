import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AccountClient,
  addMember,
  createOrganization,
  createPersonalApiKey,
  createProject,
  createUser,
  hashPersonalApiKey,
  listMembers,
  listOrganizations,
  listPersonalApiKeys,
  listProjects,
  recordOperatorActivity,
  revokePersonalApiKey,
} from '@millrace/accounts';
import { membershipLevels, productFeaturesOf } from '@millrace/contracts';
import type { Database } from '@millrace/db';

/** The first organization of a fresh system, with what a person or a script needs to begin. */
export interface Demo {
  organizationId: string;
  projectId: number;
  environmentId: number;
  /** `phc_…` */
  projectApiKey: string;
  /** `phx_…`, of the owner, may do everything. The database has only its hash, so a file of this user's keeps it. */
  personalApiKey: string;
}

const owner = { email: 'owner@example.com', firstName: 'Demo', lastName: 'Owner' };
const member = { email: 'member@example.com', firstName: 'Demo', lastName: 'Member' };
const keyLabel = 'npm start';

/**
 * The demo organization of this data directory: made at the first start, the same with every later one. Whatever is
 * missing of it, because a file or a row was removed, is made again.
 *
 * @param directory where `demo.json` is kept, readable for its owner only
 */
export async function ensureDemo(database: Database, directory: string): Promise<Demo> {
  const file = join(directory, 'demo.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Demo>) : {};
  const demo = await database.prisma.$transaction((client) => findOrCreateDemo(client, known.personalApiKey));
  const written = `${file}.new`;
  writeFileSync(written, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(written, file);
  return demo;
}

async function findOrCreateDemo(client: AccountClient, knownKey: string | undefined): Promise<Demo> {
  const ownerId = await findOrCreateUser(client, owner);
  const memberId = await findOrCreateUser(client, member);
  const organizationId = await findOrCreateOrganization(client, ownerId);
  const members = await listMembers(client, { organizationId });
  if (!members.some(({ user_id }) => user_id === memberId)) {
    await addMember(client, { organizationId, userId: memberId, level: membershipLevels.member });
  }
  const [found] = await listProjects(client, { organizationId });
  const created = found ?? (await createDemoProject(client, organizationId));
  const environment = 'environment' in created ? created.environment : created.environments[0];
  if (!environment) throw new Error('The demo project has no environment.');
  return {
    organizationId,
    projectId: environment.project_id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    personalApiKey: await findOrCreateKey(client, ownerId, knownKey),
  };
}

async function createDemoProject(client: AccountClient, organizationId: string) {
  const created = await createProject(client, { organizationId, name: 'Demo project' });
  const { project, environment } = created;
  const target = { organizationId, environmentId: environment.id, itemId: project.id };
  const done = { ...target, command: 'npm start', activity: 'created' } as const;
  await recordOperatorActivity(client, { ...done, scope: 'Project', name: project.name });
  await recordOperatorActivity(client, { ...done, scope: 'Team', name: environment.name });
  return created;
}

async function findOrCreateUser(client: AccountClient, user: typeof owner): Promise<number> {
  const found = await client.user.findUnique({ where: { email: user.email } });
  return (found ?? (await createUser(client, { ...user, isEmailVerified: true }))).id;
}

async function findOrCreateOrganization(client: AccountClient, ownerId: number): Promise<string> {
  const [found] = await listOrganizations(client, { userId: ownerId });
  if (found) return found.id;
  const { id, name } = await createOrganization(client, { name: 'Demo', features: productFeaturesOf('full') });
  await recordOperatorActivity(client, {
    command: 'npm start',
    organizationId: id,
    scope: 'Organization',
    itemId: id,
    activity: 'created',
    name,
  });
  await addMember(client, { organizationId: id, userId: ownerId, level: membershipLevels.owner });
  return id;
}

/** A key whose value is lost is replaced: a user may only have so many. */
async function findOrCreateKey(client: AccountClient, userId: number, known: string | undefined): Promise<string> {
  const keys = await listPersonalApiKeys(client, { userId });
  if (known && keys.some(({ secure_value }) => secure_value === hashPersonalApiKey(known))) return known;
  for (const { id, label } of keys) if (label === keyLabel) await revokePersonalApiKey(client, { id });
  return (await createPersonalApiKey(client, { userId, label: keyLabel, scopes: ['*'] })).value;
}
