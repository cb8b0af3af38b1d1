/** SQL for the caller's access to environments, shared by all queries that check it. */

import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

/** SQL condition: the plan of organization `o` allows private environments. */
export const mayHavePrivateEnvironments = `o.available_product_features @> '[{"key": "project_based_permissioning"}]'`;

/**
 * SQL expression for the caller's level in an environment (docs/api/access.md#access-to-an-environment). Null means no
 * access. Administrators and owners of the organization keep their level everywhere. Members keep theirs if the plan
 * has no project permissions. Otherwise:
 *
 * - A member whose own rule is `none`, or whose roles all have `none`, has no access.
 * - In a private environment (`access_control`), members have the highest level given here to them or their roles, if
 *   any.
 * - Elsewhere, they have the highest of their own level, the default rule and, if there is a default rule, the level
 *   given here to them or their roles.
 *
 * The query must name the environment `e`, its organization `o` and the caller's membership `m`. Rules are looked up
 * only where they matter.
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

/**
 * FROM clause for `effectiveLevel`. `$1` is the ID of the calling user. Contains only the user's own organizations.
 */
export const environmentsOfCaller = `environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    JOIN membership m ON m.organization_id = o.id AND m.user_id = $1`;

/** An environment with the caller's level there, or null if the caller has no access. */
export interface FoundEnvironment {
  environmentId: number;
  projectId: number;
  organizationId: string;
  level: number | null;
  /** True if access rules for kinds of records or single records exist and are enabled. */
  hasRecordRules: boolean;
}

/** Columns of `FoundEnvironment`, for a query from `environmentsOfCaller`. */
export const foundEnvironmentColumns = `e.id AS "environmentId", e.project_id AS "projectId",
  p.organization_id AS "organizationId", ${effectiveLevel} AS level,
  (${mayHavePrivateEnvironments}
   AND EXISTS (SELECT FROM access_rule r WHERE r.environment_id = e.id AND r.resource <> 'project')) AS "hasRecordRules"`;

/** Finds an environment in the caller's organizations. */
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
