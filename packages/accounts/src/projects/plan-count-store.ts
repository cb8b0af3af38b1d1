import type { Transaction } from '@millrace/db';
import type { PlanCount } from './plan-limits.ts';

/** How many projects an organization has. One of which every environment is demo data is demo data. */
export async function countProjects(tx: Transaction, organizationId: string): Promise<PlanCount> {
  const [row] = await tx.query<{ all: number; demo: number }>(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE is_demo)::int AS demo
       FROM (SELECT (SELECT bool_and(e.is_demo) FROM environment e WHERE e.project_id = p.id) AS is_demo
               FROM project p WHERE p.organization_id = $1) project`,
    [organizationId],
  );
  return row ?? { all: 0, demo: 0 };
}

/** How many environments a project has. */
export async function countEnvironments(tx: Transaction, projectId: number): Promise<PlanCount> {
  const [row] = await tx.query<{ all: number; demo: number }>(
    'SELECT count(*)::int AS all, count(*) FILTER (WHERE is_demo)::int AS demo FROM environment WHERE project_id = $1',
    [projectId],
  );
  return row ?? { all: 0, demo: 0 };
}

/** Whether an environment is demo data; undefined when it is gone. */
export async function findIsDemo(tx: Transaction, environmentId: number): Promise<boolean | undefined> {
  const rows = await tx.query<{ is_demo: boolean }>('SELECT is_demo FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.is_demo;
}
