/** What the owner of a key may do in an environment, as SQL for every query that asks. */

import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

/** SQL: whether the plan of organization `o` lets environments be private. */
export const mayHavePrivateEnvironments = `o.available_product_features @> '[{"key": "project_based_permissioning"}]'`;

/**
 * SQL for the level of the caller on an environment (docs/api/access.md#access-to-an-environment). Administrators and
 * owners of the organization keep theirs everywhere. For members, where the plan has project permissions: who is given
 * `none` by name, or only `none` by roles, is shut out; where the environment is private (`access_control`) they have the
 * highest level that they or their roles were given here, if any; else the highest of their own, what the rule for
 * everybody gives, and, if there is such a rule, what they or their roles were given here. Null means no access.
 *
 * For a query that names environment `e`, its organization `o` and the caller's membership `m`. Rules are looked up only
 * where they count.
 */
export const effectiveLevel = `CASE
    WHEN m.level >= ${membershipLevels.administrator} OR NOT ${mayHavePrivateEnvironments} THEN m.level
    ELSE (SELECT CASE
              WHEN given.is_none THEN NULL
              WHEN e.access_control THEN CASE WHEN given.level IS NOT NULL THEN greatest(given.level, m.level) END
              WHEN e.default_access_level = 'admin' THEN ${membershipLevels.administrator}
              WHEN e.default_access_level IS NOT NULL THEN greatest(given.level, m.level)
              ELSE m.level
            END
            FROM (SELECT bool_or(r.membership_id IS NOT NULL AND r.level = 'none') OR bool_and(r.level = 'none') AS is_none,
                         max(CASE r.level WHEN 'admin' THEN ${membershipLevels.administrator}
                                          WHEN 'member' THEN ${membershipLevels.member} END) AS level
                    FROM access_rule r
                   WHERE r.environment_id = e.id AND r.resource = 'project'
                     AND (r.membership_id = m.id
                          OR r.role_id IN (SELECT held.role_id FROM role_membership held WHERE held.membership_id = m.id))
                 ) given)
  END`;

/** The tables `effectiveLevel` speaks of; `$1` is the id of the calling user. Nothing of other tenants is in it. */
export const environmentsOfCaller = `environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    JOIN membership m ON m.organization_id = o.id AND m.user_id = $1`;

/** An environment with the level a caller has there: null where it is private to others. */
export interface FoundEnvironment {
  environmentId: number;
  projectId: number;
  organizationId: string;
  level: number | null;
  /** Whether rules of access to kinds of records, or to single ones, count here. */
  hasRecordRules: boolean;
}

/** The columns of `FoundEnvironment`, for a query from `environmentsOfCaller`. */
export const foundEnvironmentColumns = `e.id AS "environmentId", e.project_id AS "projectId",
  p.organization_id AS "organizationId", ${effectiveLevel} AS level,
  (${mayHavePrivateEnvironments}
   AND EXISTS (SELECT FROM access_rule r WHERE r.environment_id = e.id AND r.resource <> 'project')) AS "hasRecordRules"`;

/** The environment with this id, if it belongs to an organization of the caller. */
export async function findEnvironment(
  sql: Sql,
  userId: number,
  environmentId: number,
): Promise<FoundEnvironment | undefined> {
  const rows = await sql.query<FoundEnvironment & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller} WHERE e.id = $2`,
    [userId, environmentId],
  );
  return rows[0];
}
