import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';
import { countEnvironments, countProjects } from './plan-count-store.ts';
import { requireNoDemo, requireRoom } from './plan-limits.ts';

/** Plans are what an operator gives out: who uses `millrace` is not bound by them, nor is the system itself. */
export function isBoundByPlan(actor: Actor): boolean {
  return actor !== null && 'userId' in actor;
}

/** Whether the plan allows one project more. Behind the organization's lock. @throws AppError `forbidden`. */
export async function requireProjectRoom(
  tx: Transaction,
  { organizationId, plan, isDemo }: { organizationId: string; plan: unknown; isDemo: boolean },
): Promise<void> {
  const projects = await countProjects(tx, organizationId);
  if (isDemo) requireNoDemo(projects);
  else requireRoom(plan, 'projects', { ...projects, all: projects.all + 1 });
}

/** Whether the plan allows one environment more. Behind the organization's lock. @throws AppError `forbidden`. */
export async function requireEnvironmentRoom(
  tx: Transaction,
  {
    organizationId,
    projectId,
    plan,
    isDemo,
  }: { organizationId: string; projectId: number; plan: unknown; isDemo: boolean },
): Promise<void> {
  const environments = await countEnvironments(tx, projectId);
  if (isDemo) {
    requireNoDemo(environments);
    return;
  }
  requireRoom(plan, 'environments', { ...environments, all: environments.all + 1 });
  // A project that held nothing but demo data did not count until now.
  if (environments.all !== environments.demo) return;
  const projects = await countProjects(tx, organizationId);
  requireRoom(plan, 'projects', { ...projects, demo: projects.demo - 1 });
}
