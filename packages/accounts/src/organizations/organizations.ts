import {
  isPlanName,
  limitsOf,
  type PlanLimits,
  type PlanName,
  type ProductFeature,
  planNames,
  productFeaturesOf,
  toLimitFeatures,
} from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { checkText, invalidField, isUuid } from '../input/account-input.ts';
import { lockOrganization } from './lock-organization-store.ts';
import { slugCandidates } from './organization-slug.ts';
import {
  findOrganization,
  insertOrganization,
  type Organization,
  selectOrganizations,
  updateFeatures,
} from './organization-store.ts';

export interface NewOrganization {
  /** 1 to 64 characters. */
  name: string;
  /** What its plan includes; nothing gated by default. See `productFeaturesOf`. */
  features?: readonly ProductFeature[];
  /** True by default. */
  isMemberJoinEmailEnabled?: boolean | undefined;
  enforce2fa?: boolean | null | undefined;
  actor: Actor;
}

/** @throws AppError `invalid` naming `name`. */
export async function createOrganization(tx: Transaction, input: NewOrganization): Promise<Organization> {
  const created = await insertWithFreeSlug(tx, {
    id: uuidv7(),
    name: checkText('name', input.name, { maxLength: 64 }),
    features: input.features ?? [],
    isMemberJoinEmailEnabled: input.isMemberJoinEmailEnabled ?? true,
    enforce2fa: input.enforce2fa ?? null,
  });
  await recordActivity(tx, {
    organizationId: created.id,
    scope: 'Organization',
    itemId: created.id,
    activity: 'created',
    actor: input.actor,
    name: created.name,
  });
  return created;
}

async function insertWithFreeSlug(
  tx: Transaction,
  row: Omit<Parameters<typeof insertOrganization>[1], 'slug'>,
): Promise<Organization> {
  for (const slug of slugCandidates(row.name)) {
    const created = await insertOrganization(tx, { ...row, slug });
    if (created) return created;
  }
  throw new AppError('unavailable', 'No free slug was found for the organization. Please try again.');
}

/** Oldest first; all of them, or those a user is a member of. */
export async function listOrganizations(sql: Sql, filter: { userId?: number } = {}): Promise<Organization[]> {
  return selectOrganizations(sql, filter.userId ?? null);
}

/** @throws AppError `not_found`. */
export async function getOrganization(sql: Sql, organizationId: string): Promise<Organization> {
  const found = isUuid(organizationId) ? await findOrganization(sql, organizationId) : undefined;
  if (!found) throw notFound('Organization');
  return found;
}

export interface NewPlan {
  plan: PlanName;
  /** Absent = as it was, null = unlimited, else a whole number from 0. */
  limits?: Partial<PlanLimits>;
  actor: Actor;
}

/**
 * Replaces what the organization's plan includes.
 * @throws AppError `invalid` naming `plan` or the limit, or `not_found`.
 */
export async function setOrganizationPlan(
  tx: Transaction,
  organizationId: string,
  { plan, limits = {}, actor }: NewPlan,
): Promise<Organization> {
  if (!isPlanName(plan)) {
    throw invalidField('plan', 'invalid_choice', `"${plan}" is not a valid choice: ${planNames.join(', ')}.`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw invalidField(name, 'invalid_input', 'A valid integer is required.');
    }
  }
  const { available_product_features: before } = await lockOrganization(tx, organizationId);
  const features = [...productFeaturesOf(plan), ...toLimitFeatures({ ...limitsOf(before), ...limits })];
  const changed = await updateFeatures(tx, organizationId, features);
  if (!changed) throw notFound('Organization');
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'updated',
    actor,
    name: changed.name,
    change: {
      before: { available_product_features: before },
      after: { available_product_features: changed.available_product_features },
    },
  });
  return changed;
}
