/** SQL that determines the caller's access to environments. All access checks use it. */

import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

/** SQL condition that is true if the plan of organization `o` includes private environments. */
export const mayHavePrivateEnvironments = `o.available_product_features @> '[{"key": "project_based_permissioning"}]'`;

/**
 * SQL expression for the caller's level in an environment (docs/api/access.md#access-to-an-environment). Null means no
 * access. Administrators and owners of the organization keep their level in every environment. If the plan does not
 * include project permissions, members keep their level too. Otherwise:
 *
 * - A member whose own rule is `none`, or whose roles all have the rule `none`, has no access.
 * - In a private environment (`access_control`), a member needs a rule of their own or of one of their roles, and has
 *   the highest level that these rules grant.
 * - In other environments, a member has the highest of their own level, the level of the default rule and, if a default
 *   rule exists, the levels that rules grant to the member's roles.
 *
 * The query must use the aliases `e` for the environment, `o` for its organization and `m` for the caller's membership.
 * The expression reads rules only for members of organizations with project permissions.
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

/** FROM clause for `effectiveLevel`, limited to environments in the organizations of the user with ID `$1`. */
export const environmentsOfCaller = `environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    JOIN membership m ON m.organization_id = o.id AND m.user_id = $1`;

/** An environment and the caller's level in it. The level is null if the caller has no access. */
export interface FoundEnvironment {
  environmentId: number;
  projectId: number;
  organizationId: string;
  level: number | null;
  hasRecordRules: boolean;
}

export const foundEnvironmentColumns = `e.id AS "environmentId", e.project_id AS "projectId",
  p.organization_id AS "organizationId", ${effectiveLevel} AS level,
  (${mayHavePrivateEnvironments}
   AND EXISTS (SELECT FROM access_rule r WHERE r.environment_id = e.id AND r.resource <> 'project')) AS "hasRecordRules"`;

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
