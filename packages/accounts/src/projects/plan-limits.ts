// Checks the number of projects and environments against the organization's plan.

import { findPlanFeature, type PlanFeature } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/**
 * The number of projects in an organization or of environments in a project. `demo` counts those that contain demo
 * data.
 */
export interface PlanCount {
  all: number;
  demo: number;
}

const features = { projects: 'organizations_projects', environments: 'environments' } as const satisfies Record<
  string,
  PlanFeature
>;
type Counted = keyof typeof features;

/**
 * Checks a number of projects or environments against the plan (docs/api/organizations.md#plans). Without the plan
 * feature, the limit is one. With the feature, it is the feature's `limit`, where null means unlimited. The first demo
 * project or environment does not count toward the limit. Additional demo projects and environments count, regardless
 * of how they were created.
 * @param plan the organization's features
 * @param after includes the planned change
 * @throws AppError `forbidden`
 */
export function requirePlanCapacity(plan: unknown, what: Counted, after: PlanCount): void {
  const limit = planLimit(plan, what);
  if (limit === null || after.all - Math.min(1, after.demo) <= limit) return;
  throw new AppError(
    'forbidden',
    findPlanFeature(plan, features[what])
      ? `You have reached the maximum limit of allowed ${what} for your current plan. Upgrade your plan to be able to create and manage more ${what}.`
      : 'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}

/**
 * Checks that the organization does not yet have a demo project, or that the project does not yet have a demo
 * environment.
 * @throws AppError `forbidden`
 */
export function requireNoDemo({ demo }: PlanCount): void {
  if (demo === 0) return;
  throw new AppError(
    'forbidden',
    'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}

/**
 * Rejects marking an existing project or environment as demo data if the plan has a limit, because demo data does not
 * count toward the limit.
 * @throws AppError `forbidden`
 */
export function requireNoPlanLimit(plan: unknown): void {
  if (planLimit(plan, 'projects') === null && planLimit(plan, 'environments') === null) return;
  throw new AppError(
    'forbidden',
    'Your current plan limits the number of projects and environments. You cannot mark a project or environment ' +
      'that counts toward the limit as demo data.',
  );
}

function planLimit(plan: unknown, what: Counted): number | null {
  const included = findPlanFeature(plan, features[what]);
  return included ? (included.limit ?? null) : 1;
}
