import { createHash, randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser, getUser } from '@millrace/accounts';
import { type MembershipLevel, membershipLevels, type PlanName } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { createTestTenant, type TestTenant } from '@millrace/testing';

/** A user with a membership level. In the test cases, M means member, A means administrator, and W means owner. */
export interface Actor {
  userId: number;
  uuid: string;
  email: string;
  key: string;
}

export interface OrganizationActors {
  organizationId: string;
  projectId: number;
  M: Actor;
  A: Actor;
  W: Actor;
  /** A second organization, whose owner is not a member of the first one. */
  off: TestTenant;
}

export async function createActors(
  database: Pick<Database, 'sql' | 'transaction'>,
  { plan = 'full' }: { plan?: PlanName } = {},
): Promise<OrganizationActors> {
  const tenant = await createTestTenant(database, { plan, organizationName: 'Acme' });
  const owner = await getUser(database.sql, { id: tenant.userId });
  return {
    organizationId: tenant.organizationId,
    projectId: tenant.projectId,
    M: await createActor(database, tenant.organizationId, membershipLevels.member),
    A: await createActor(database, tenant.organizationId, membershipLevels.administrator),
    W: { userId: owner.id, uuid: owner.uuid, email: owner.email, key: tenant.personalApiKey },
    off: await createTestTenant(database, { organizationName: 'Other' }),
  };
}

export async function createActor(
  { sql }: Pick<Database, 'sql'>,
  organizationId: string,
  level: MembershipLevel,
  email = `${randomUUID()}@example.com`,
): Promise<Actor> {
  const user = await createUser(sql, { email, firstName: 'Ada' });
  await addMember(sql, { organizationId, userId: user.id, level });
  const { value } = await createPersonalApiKey(sql, { actor: null, userId: user.id, label: 'Test key', scopes: ['*'] });
  return { userId: user.id, uuid: user.uuid, email: user.email, key: value };
}

export function newInviteSecret(): { token: string; hash: string } {
  const token = randomUUID();
  return { token, hash: createHash('sha256').update(token).digest('hex') };
}
