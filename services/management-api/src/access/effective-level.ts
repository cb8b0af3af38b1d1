/** SQL: whether the plan of organization `o` lets environments be private. */
export const mayHavePrivateEnvironments = `o.available_product_features @> '[{"key": "project_based_permissioning"}]'`;

/**
 * SQL for the level of the caller on an environment (reference/management-api.md 2.8): that in the organization, unless
 * the environment is private, which needs `access_control` and a plan with project permissions. Then administrators and
 * owners keep theirs, members have the one they were given here, and null means no access.
 *
 * For a query that names environment `e`, its organization `o`, the caller's membership `m` and, left-joined by
 * `explicitMemberJoin`, the caller's own row `em`.
 */
export const effectiveLevel = `CASE
    WHEN NOT (e.access_control AND ${mayHavePrivateEnvironments}) THEN m.level
    WHEN em.level IS NOT NULL THEN greatest(em.level, m.level)
    WHEN m.level >= 8 THEN m.level
  END`;

export const explicitMemberJoin =
  'LEFT JOIN environment_member em ON em.environment_id = e.id AND em.membership_id = m.id';

/** The tables `effectiveLevel` speaks of; `$1` is the id of the calling user. Nothing of other tenants is in it. */
export const environmentsOfCaller = `environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    JOIN membership m ON m.organization_id = o.id AND m.user_id = $1
    ${explicitMemberJoin}`;
