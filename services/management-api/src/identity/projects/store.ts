// Reads and lists projects, and finds which users can access a project.

import { effectiveLevel, environmentsOfCaller, mayHavePrivateEnvironments } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import type { Membership } from '../../access/caller.ts';
import { buildPageSql, type Counted, splitCount, toPageClauses } from '../../sql/page-limit.ts';
import type { EnvironmentSummaryRow } from '../environments/store.ts';

type ProjectSummaryRow = Omit<EnvironmentSummaryRow, 'project_id'>;

export async function findEnvironmentSummary(sql: Sql, environmentId: number): Promise<ProjectSummaryRow | undefined> {
  const rows = await sql.query<ProjectSummaryRow & Record<string, unknown>>(
    `SELECT e.id, e.uuid, p.organization_id AS organization, e.api_token, e.name, e.completed_snippet_onboarding,
            e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone, e.access_control
       FROM environment e JOIN project p ON p.id = e.project_id
      WHERE e.id = $1`,
    [environmentId],
  );
  return rows[0];
}

/** Returns true if the user deleted a project in one of these organizations and its data is still being deleted. */
export async function wasRecentlyDeletedBy(
  sql: Sql,
  { userId, organizationIds }: { userId: number; organizationIds: string[] },
  projectId: number,
): Promise<boolean> {
  const rows = await sql.query(
    `SELECT 1 FROM environment_cleanup c JOIN activity_log a ON a.scope = 'Project' AND a.item_id = c.environment_id::text
      WHERE c.environment_id = $1 AND a.activity = 'deleted' AND a.user_id = $2 AND a.organization_id = ANY ($3::uuid[])`,
    [projectId, userId, organizationIds],
  );
  return rows.length > 0;
}

const summaryColumns = `p.id, e.uuid, p.organization_id AS organization, e.api_token, p.name,
  e.completed_snippet_onboarding, e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone,
  e.access_control`;

const withFirstEnvironment = (found: string) =>
  `(${found}) p
   CROSS JOIN LATERAL (SELECT uuid, api_token, completed_snippet_onboarding, has_completed_onboarding_for,
                              ingested_event, is_demo, timezone, access_control
                         FROM environment WHERE project_id = p.id ORDER BY id LIMIT 1) e`;

/**
 * Reads the total count and a page in one statement, so that they are consistent. The count takes less time than
 * another round trip.
 */
const countAndPage = (count: string, page: string) =>
  `SELECT total.count, page.*
     FROM (SELECT ${count} AS count) total
     LEFT JOIN LATERAL (SELECT ${summaryColumns} FROM ${withFirstEnvironment(page)}) page ON true
    ORDER BY page.id`;

/** Returns SQL for an organization's projects. @param organizationId SQL expression of the organization ID */
const projectsOf = (organizationId: string) =>
  `SELECT id, organization_id, name FROM project WHERE organization_id = ${organizationId} ORDER BY id`;

/**
 * SQL that lists projects of a single organization, whose ID is in the array `$1`. Does not check the caller's access,
 * because that would take twice as long (see `listProjects`).
 */
const ofOneOrganization = buildPageSql(({ page }) =>
  countAndPage(
    'coalesce((SELECT projects FROM organization_size WHERE organization_id = ($1::uuid[])[1]), 0)',
    `${projectsOf('($1::uuid[])[1]')} ${page}`,
  ),
);

/**
 * SQL that lists projects of several organizations, whose IDs are in `$1`. The IDs are in a subquery, because otherwise
 * PostgreSQL would plan the statement again for each number of IDs.
 */
const ofOrganizations = buildPageSql(({ page, reach }) =>
  countAndPage(
    `(SELECT coalesce(sum(projects), 0)::int
        FROM unnest((SELECT $1::uuid[])) o (id) JOIN organization_size size ON size.organization_id = o.id)`,
    `SELECT p.* FROM unnest((SELECT $1::uuid[])) o (id) CROSS JOIN LATERAL (${projectsOf('o.id')} ${reach}) p
      ORDER BY p.id ${page}`,
  ),
);

/**
 * SQL that lists projects for callers who may not have access to all of them. `$1` contains the organization IDs, and
 * `$2` is the caller. Omits a project if its first environment is private and the caller has no access to it.
 */
const openToMember = buildPageSql(({ page, reach }) => {
  // If the organizations have no private environments, PostgreSQL reads only the projects on the page.
  const projects = `FROM project p
    WHERE p.organization_id = o.id
      AND (m.level >= ${membershipLevels.administrator} OR (SELECT ${effectiveLevel}
             FROM (SELECT id, access_control, default_access_level FROM environment
                    WHERE project_id = p.id ORDER BY id LIMIT 1) e) IS NOT NULL)`;
  const organizations = 'membership m JOIN organization o ON o.id = m.organization_id';
  const where = 'WHERE m.user_id = $2 AND m.organization_id = ANY ($1::uuid[])';
  return countAndPage(
    `(SELECT coalesce(sum(CASE WHEN m.level >= ${membershipLevels.administrator} OR NOT ${mayHavePrivateEnvironments}
                               THEN coalesce(size.projects, 0)
                               ELSE (SELECT count(*) ${projects}) END), 0)::int
        FROM ${organizations} LEFT JOIN organization_size size ON size.organization_id = o.id ${where})`,
    `SELECT p.* FROM ${organizations}
      CROSS JOIN LATERAL (SELECT p.id, p.organization_id, p.name ${projects} ORDER BY p.id ${reach}) p
      ${where} ORDER BY p.id ${page}`,
  );
});

/**
 * Returns one page of the projects in these organizations that the caller can access, sorted by ID, and the total
 * count.
 */
export async function listProjects(
  sql: Sql,
  { userId, memberships }: { userId: number; memberships: Membership[] },
  window: { limit: number; offset: number },
): Promise<{ count: number; results: ProjectSummaryRow[] }> {
  // Access rules can exclude only members. Administrators and owners can access all environments.
  const maySeeAll = memberships.every(({ level }) => level >= membershipLevels.administrator);
  const values: unknown[] = [memberships.map(({ organizationId }) => organizationId), ...(maySeeAll ? [] : [userId])];
  const limits = toPageClauses(window, (value) => `$${values.push(value)}`);
  const statement = !maySeeAll ? openToMember : memberships.length === 1 ? ofOneOrganization : ofOrganizations;
  return splitCount(await sql.query<Counted<ProjectSummaryRow>>(statement(limits), values));
}

/** Returns the caller's level in each environment of a project, or null where the caller has no access. */
export async function levelsInProject(
  tx: Transaction,
  { userId, projectId }: { userId: number; projectId: number },
): Promise<{ id: number; level: number | null }[]> {
  return tx.query(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE e.project_id = $2 ORDER BY e.id`,
    [userId, projectId],
  );
}
