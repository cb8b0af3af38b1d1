// Creates the demo organization that `npm start` shows, with its project, user and keys.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addMember,
  createOneTimeLink,
  createOwnedOrganization,
  createPersonalApiKey,
  createProject,
  createUser,
  findUser,
  hashPersonalApiKey,
  listMembers,
  listOrganizations,
  listPersonalApiKeys,
  listProjects,
  revokePersonalApiKey,
} from '@millrace/accounts';
import { listProductFeatures, membershipLevels } from '@millrace/contracts';
import type { SqlDatabase, Transaction } from '@millrace/db/sql';

export interface Demo {
  organizationId: string;
  projectId: number;
  environmentId: number;
  projectApiKey: string;
  /**
   * The owner's personal API key, which starts with `phx_` and has all scopes. The database stores only its hash, so
   * the key is kept in a file that only this user can read.
   */
  personalApiKey: string;
}

const owner = { email: 'owner@example.com', firstName: 'Demo', lastName: 'Owner' };
const member = { email: 'member@example.com', firstName: 'Demo', lastName: 'Member' };
const project = { settings: { name: 'Demo project' } };
const keyLabel = 'npm start';
const actor = { command: 'npm start' };

/**
 * Returns this data directory's demo organization. The first start creates the organization. Later starts return the
 * same organization, and create only files and rows that are missing.
 * @param directory the directory of `demo.json`, which only its owner can read
 */
export async function ensureDemo(database: Pick<SqlDatabase, 'transaction'>, directory: string): Promise<Demo> {
  const file = join(directory, 'demo.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Demo>) : {};
  const demo = await database.transaction((tx) => findOrCreateDemo(tx, known.personalApiKey));
  const written = `${file}.new`;
  writeFileSync(written, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(written, file);
  return demo;
}

/**
 * Creates a sign-in link for the demo's owner.
 * @returns the secret in the link, which signs in the owner once and within one hour (docs/operations/console.md)
 */
export function createConsoleLink(database: Pick<SqlDatabase, 'transaction'>): Promise<string> {
  return database.transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, owner);
    return (await createOneTimeLink(tx, { kind: 'sign_in', userId })).secret;
  });
}

async function findOrCreateDemo(tx: Transaction, knownKey: string | undefined): Promise<Demo> {
  const ownerId = await findOrCreateUser(tx, owner);
  const memberId = await findOrCreateUser(tx, member);
  const organizationId = await findOrCreateOrganization(tx, ownerId);
  const members = await listMembers(tx, { organizationId });
  if (!members.some(({ user_id }) => user_id === memberId)) {
    await addMember(tx, { organizationId, userId: memberId, level: membershipLevels.member });
  }
  const [found] = await listProjects(tx, { organizationId });
  const [environment] = found?.environments ?? [await createDemoProject(tx, organizationId)];
  if (!environment) throw new Error('The demo project has no environment.');
  return {
    organizationId,
    projectId: environment.project_id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    personalApiKey: await findOrCreateKey(tx, ownerId, knownKey),
  };
}

async function createDemoProject(tx: Transaction, organizationId: string) {
  return (await createProject(tx, { organizationId, ...project, actor })).environment;
}

async function findOrCreateUser(tx: Transaction, user: typeof owner): Promise<number> {
  const found = await findUser(tx, { email: user.email });
  return (found ?? (await createUser(tx, { ...user, isEmailVerified: true }))).id;
}

async function findOrCreateOrganization(tx: Transaction, ownerId: number): Promise<string> {
  const [found] = await listOrganizations(tx, { userId: ownerId });
  if (found) return found.id;
  const features = listProductFeatures('full');
  return (await createOwnedOrganization(tx, { name: 'Demo', features, ownerId, project, actor })).organization.id;
}

/**
 * Returns the user's key, and creates it if necessary. If the key's value was lost, replaces the key, because the
 * number of keys per user is limited.
 */
async function findOrCreateKey(tx: Transaction, userId: number, known: string | undefined): Promise<string> {
  const keys = await listPersonalApiKeys(tx, { userId });
  if (known && keys.some(({ secure_value }) => secure_value === hashPersonalApiKey(known))) return known;
  for (const { id, label } of keys) if (label === keyLabel) await revokePersonalApiKey(tx, { id, actor });
  return (await createPersonalApiKey(tx, { userId, actor, label: keyLabel, scopes: ['*'] })).value;
}
