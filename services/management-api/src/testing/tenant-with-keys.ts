import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { type MembershipLevel, membershipLevels } from '@millrace/contracts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import type { TestApi } from './start-test-api.ts';

/** Paths of an environment and of a project. All cases in docs/api/projects.md#environments apply to both. */
export const pathFamilies = [
  [
    'environment',
    (tenant: TestTenant, id: number | string = tenant.environmentId) =>
      `/api/projects/${tenant.projectId}/environments/${id}/`,
  ],
  ['project', (_tenant: TestTenant, id: number | string = _tenant.projectId) => `/api/projects/${id}/`],
] as const;

export interface TenantWithKeys {
  /** The tenant's user is an owner of the organization. The organization has the plan `full`. */
  tenant: TestTenant;
  /** Keys of the organization's member, administrator and owner, and of a user outside the organization. */
  keys: { M: string; A: string; W: string; stranger: string };
  membershipId: string;
}

export async function createTenantWithKeys(api: TestApi): Promise<TenantWithKeys> {
  const tenant = await createTestTenant(api.database);
  const stranger = await createTestTenant(api.database);
  const keyOf = async (level: MembershipLevel) => {
    const user = await createUser(api.database.sql, { email: `${level}-${tenant.organizationId}@example.com` });
    const { id } = await addMember(api.database.sql, { organizationId: tenant.organizationId, userId: user.id, level });
    const { value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: user.id,
      label: 'key',
      scopes: ['*'],
    });
    return { id, value };
  };
  const member = await keyOf(membershipLevels.member);
  const administrator = await keyOf(membershipLevels.administrator);
  return {
    tenant,
    keys: { M: member.value, A: administrator.value, W: tenant.personalApiKey, stranger: stranger.personalApiKey },
    membershipId: member.id,
  };
}
