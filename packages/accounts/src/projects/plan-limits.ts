import { findPlanFeature, type PlanFeature } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/** How many projects of an organization, or environments of a project, there are, and how many of them are demo data. */
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
 * Whether the plan allows so many (docs/api/organizations.md#plans): without the feature one, with it as many as its `limit`
 * says, null for any number. One of them may be demo data, which does not count; any more of it does, however it came
 * to be.
 *
 * @param plan the organization's features.
 * @param after how many there would be.
 * @throws AppError `forbidden`.
 */
export function requireRoom(plan: unknown, what: Counted, after: PlanCount): void {
  const limit = planLimit(plan, what);
  if (limit === null || after.all - Math.min(1, after.demo) <= limit) return;
  throw new AppError(
    'forbidden',
    findPlanFeature(plan, features[what])
      ? `You have reached the maximum limit of allowed ${what} for your current plan. Upgrade your plan to be able to create and manage more ${what}.`
      : 'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}

/** There is one demo project in an organization, and one demo environment in a project. @throws AppError `forbidden`. */
export function requireNoDemo({ demo }: PlanCount): void {
  if (demo === 0) return;
  throw new AppError(
    'forbidden',
    'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}

/** What a plan counts stays counted. @throws AppError `forbidden`. */
export function requireUncounted(plan: unknown): void {
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
