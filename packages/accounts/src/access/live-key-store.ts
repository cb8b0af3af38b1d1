/** Looks up personal API keys: whether a key is valid, its owner, and its restrictions. */

import type { Sql } from '@millrace/db/sql';

export interface Membership {
  organizationId: string;
  /** Membership level: 1 (member), 8 (administrator) or 15 (owner). */
  level: number;
}

const membershipsIn = (
  from: string,
) => `coalesce((SELECT jsonb_agg(jsonb_build_object('organizationId', m.organization_id,
                                                                              'level', m.level)
                                    ORDER BY (m.organization_id = u.current_organization_id) DESC NULLS LAST,
                                             m.joined_at, m.id)
                     FROM ${from}), '[]')`;

/** SQL expression that returns user `u`'s memberships as `Membership[]`, with the current organization first. */
export const membershipsOfUser = membershipsIn('membership m WHERE m.user_id = u.id');

/**
 * SQL expression like `membershipsOfUser`, but excludes organizations that do not allow the user's personal API keys.
 */
const membershipsOfKey = membershipsIn(
  `membership m JOIN organization o ON o.id = m.organization_id
    WHERE m.user_id = u.id AND (o.members_can_use_personal_api_keys OR m.level >= 8)`,
);

interface PersonalKeyRow {
  id: string;
  user_id: number;
  expires_at: Date | null;
  scopes: string[];
  scoped_teams: number[];
  scoped_organizations: string[];
  organizations_of_environments: string[];
  is_last_use_stale: boolean;
  memberships: Membership[];
  current_environment_id: number | null;
}

/** SQL condition that is true if key `k` of user `u` is valid. */
export const keyIsLive = `u.is_active AND (k.expires_at IS NULL OR k.expires_at > now())`;

/**
 * Finds a key that has not expired and whose user is active, together with the user's memberships. Every request with a
 * key needs this, so it takes a single indexed query.
 */
export async function findLiveKey(sql: Sql, secureValue: string): Promise<PersonalKeyRow | undefined> {
  const rows = await sql.query<PersonalKeyRow>(
    `SELECT k.id, k.user_id, k.expires_at, k.scopes, k.scoped_teams, k.scoped_organizations,
            CASE WHEN cardinality(k.scoped_teams) = 0 THEN '{}'::text[]
                 ELSE array(SELECT DISTINCT p.organization_id::text FROM environment e JOIN project p ON p.id = e.project_id
                             WHERE e.id = ANY (k.scoped_teams)) END AS organizations_of_environments,
            (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 hour') AS is_last_use_stale,
            ${membershipsOfKey} AS memberships,
            u.current_environment_id
       FROM personal_api_key k
       JOIN "user" u ON u.id = k.user_id
      WHERE k.secure_value = $1 AND ${keyIsLive}`,
    [secureValue],
  );
  return rows[0];
}

/** The current restrictions of a key. Streams that were opened with the key check them repeatedly. */
interface KeyInUse {
  user_id: number;
  scopes: string[];
  scoped_teams: number[];
  scoped_organizations: string[];
  last_rolled_at: Date | null;
}

/** Finds a valid key by its ID, so that a stream can check access again without the key value. */
export async function findKeyInUse(sql: Sql, keyId: string): Promise<KeyInUse | undefined> {
  const rows = await sql.query<KeyInUse & Record<string, unknown>>(
    `SELECT k.user_id, k.scopes, k.scoped_teams, k.scoped_organizations, k.last_rolled_at
       FROM personal_api_key k JOIN "user" u ON u.id = k.user_id
      WHERE k.id = $1 AND ${keyIsLive}`,
    [keyId],
  );
  return rows[0];
}

/** Records that a key was used. Writes at most once per hour and key, even for concurrent requests. */
export async function recordKeyUse(sql: Sql, keyId: string): Promise<void> {
  await sql.query(
    `UPDATE personal_api_key SET last_used_at = now()
      WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 hour')`,
    [keyId],
  );
}

/** The organizations and environments that a key is limited to. An empty list means no limit. */
interface KeyReach {
  scopedEnvironments: readonly number[];
  scopedOrganizations: readonly string[];
}

/**
 * Returns whether a key can be used for a project. The key's limits must include the project's organization and one of
 * the project's environments.
 */
export function canKeyAccessProject(
  { scopedEnvironments, scopedOrganizations }: KeyReach,
  found: { environmentIds: readonly number[]; organizationId: string },
): boolean {
  const isInOrganization = scopedOrganizations.length === 0 || scopedOrganizations.includes(found.organizationId);
  const isItself =
    scopedEnvironments.length === 0 || found.environmentIds.some((id) => scopedEnvironments.includes(id));
  return isInOrganization && isItself;
}
