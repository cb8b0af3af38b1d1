// What is read of projects: lists of them, and who can reach one.

import { effectiveLevel, environmentsOfCaller, mayHavePrivateEnvironments } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import type { Membership } from '../../access/caller.ts';
import { type Counted, countedPage, pageLimit, pageText } from '../../sql/page-limit.ts';
import type { EnvironmentSummaryRow } from '../environments/store.ts';

/** A project is told by its environment, without the number that an environment's row has of it. */
type ProjectSummaryRow = Omit<EnvironmentSummaryRow, 'project_id'>;

/** Summary of one environment, in the fields of a project summary. */
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

/** Whether the user removed a project of one of these organizations, whose data is still being cleaned up. */
export async function wasRemovedBy(
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

/** Columns of a project summary: the project's own name, everything else of its first environment. */
const summaryColumns = `p.id, e.uuid, p.organization_id AS organization, e.api_token, p.name,
  e.completed_snippet_onboarding, e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone,
  e.access_control`;

/** SQL for the projects found as `p`, with their first environments as `e`. */
const withFirstEnvironment = (found: string) =>
  `(${found}) p
   CROSS JOIN LATERAL (SELECT uuid, api_token, completed_snippet_onboarding, has_completed_onboarding_for,
                              ingested_event, is_demo, timezone, access_control
                         FROM environment WHERE project_id = p.id ORDER BY id LIMIT 1) e`;

/** One statement: the count and the page are of one moment, and a round trip costs more than either. */
const countAndPage = (count: string, page: string) =>
  `SELECT total.count, page.*
     FROM (SELECT ${count} AS count) total
     LEFT JOIN LATERAL (SELECT ${summaryColumns} FROM ${withFirstEnvironment(page)}) page ON true
    ORDER BY page.id`;

/** SQL for the projects of the organization an expression gives. */
const projectsOf = (organizationId: string) =>
  `SELECT id, organization_id, name FROM project WHERE organization_id = ${organizationId} ORDER BY id`;

/**
 * `$1` = the id of the organization, alone in an array.
 *
 * Nobody asks here who the caller is, which is half of the work: see `listProjects`.
 */
const ofOneOrganization = pageText(({ page }) =>
  countAndPage(
    'coalesce((SELECT projects FROM organization_size WHERE organization_id = ($1::uuid[])[1]), 0)',
    `${projectsOf('($1::uuid[])[1]')} ${page}`,
  ),
);

/** `$1` = their ids, in a subquery of their own: knowing how many there are, the server would plan each time again. */
const ofOrganizations = pageText(({ page, reach }) =>
  countAndPage(
    `(SELECT coalesce(sum(projects), 0)::int
        FROM unnest((SELECT $1::uuid[])) o (id) JOIN organization_size size ON size.organization_id = o.id)`,
    `SELECT p.* FROM unnest((SELECT $1::uuid[])) o (id) CROSS JOIN LATERAL (${projectsOf('o.id')} ${reach}) p
      ORDER BY p.id ${page}`,
  ),
);

/** `$1` = ids of organizations, `$2` = the caller: projects whose first environment is private to others are left out. */
const openToMember = pageText(({ page, reach }) => {
  // Of organizations that have no private environments, none is looked at but those shown.
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

/** One page of the projects of these organizations that are open to the caller, by id, and how many there are. */
export async function listProjects(
  sql: Sql,
  { userId, memberships }: { userId: number; memberships: Membership[] },
  window: { limit: number; offset: number },
): Promise<{ count: number; results: ProjectSummaryRow[] }> {
  // Only members can be shut out: administrators and owners keep their level wherever they are.
  const maySeeAll = memberships.every(({ level }) => level >= membershipLevels.administrator);
  const values: unknown[] = [memberships.map(({ organizationId }) => organizationId), ...(maySeeAll ? [] : [userId])];
  const limits = pageLimit(window, (value) => `$${values.push(value)}`);
  const statement = !maySeeAll ? openToMember : memberships.length === 1 ? ofOneOrganization : ofOrganizations;
  return countedPage(await sql.query<Counted<ProjectSummaryRow>>(statement(limits), values));
}

/** The caller's level on each environment of a project; null where it is private to others. */
export async function levelsInProject(
  tx: Transaction,
  { userId, projectId }: { userId: number; projectId: number },
): Promise<{ id: number; level: number | null }[]> {
  return tx.query(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE e.project_id = $2 ORDER BY e.id`,
    [userId, projectId],
  );
}
