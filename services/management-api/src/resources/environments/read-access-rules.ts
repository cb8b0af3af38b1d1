import { toAccessLevel } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { findDefaultAccess, listAccessRules } from './access-rule-store.ts';

/** The rules of an environment as the API shows them: the one for everybody, then those for members. */
export async function readAccessRules(sql: Sql, environmentId: number) {
  const [access, rows] = await Promise.all([
    findDefaultAccess(sql, environmentId),
    listAccessRules(sql, environmentId),
  ]);
  const forAll = access?.access_control ? ('none' as const) : (access?.default_access_level ?? null);
  return [
    ...(forAll === null ? [] : [describeRule(environmentId, { level: forAll, membershipId: null })]),
    ...rows.map((row) => ({
      ...describeRule(environmentId, { level: toAccessLevel(row.level), membershipId: row.organization_member }),
      created_by: row.created_by,
      created_at: formatDateTime(row.created_at),
      updated_at: formatDateTime(row.updated_at),
    })),
  ];
}

/** A rule of which nobody knows who made it: that for everybody is a setting, whose history is in the activity log. */
export function describeRule(
  environmentId: number,
  { level, membershipId }: { level: string | null; membershipId: string | null },
): AccessRule {
  return {
    access_level: level,
    resource: 'project',
    resource_id: String(environmentId),
    organization_member: membershipId,
    role: null,
    created_by: null,
    created_at: null,
    updated_at: null,
  };
}

interface AccessRule {
  access_level: string | null;
  resource: string;
  resource_id: string;
  organization_member: string | null;
  role: null;
  created_by: string | null;
  created_at: string | null;
  updated_at: string | null;
}
