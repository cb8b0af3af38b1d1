import { findPlanFeature, type PlanFeature } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/**
 * Whether the plan allows one more (reference/management-api.md 2.9): without the feature one, with it as many as its
 * `limit` says, null for any number. Demo data does not count, and there is one of it per organization.
 *
 * @throws AppError `forbidden`.
 */
export function requireRoom(
  features: unknown,
  { feature, existing, what }: { feature: PlanFeature; existing: number; what: 'projects' | 'environments' },
): void {
  const included = findPlanFeature(features, feature);
  const limit = included ? (included.limit ?? null) : 1;
  if (limit === null || existing < limit) return;
  throw new AppError(
    'forbidden',
    included
      ? `You have reached the maximum limit of allowed ${what} for your current plan. Upgrade your plan to be able to create and manage more ${what}.`
      : 'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}

export function requireNoDemo(existing: number): void {
  if (existing === 0) return;
  throw new AppError(
    'forbidden',
    'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
  );
}
