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
import type { organization, Prisma } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import type { AccountClient } from '../input/account-client.ts';
import { isRowMissing, notFound } from '../input/account-errors.ts';
import { checkText, invalidField, isUuid } from '../input/account-input.ts';
import { slugCandidates } from './organization-slug.ts';

export interface NewOrganization {
  /** 1 to 64 characters. */
  name: string;
  /** What its plan includes; nothing gated by default. See `productFeaturesOf`. */
  features?: ProductFeature[];
}

/** @throws AppError `invalid` naming `name`. */
export async function createOrganization(client: AccountClient, input: NewOrganization): Promise<organization> {
  const data = {
    id: uuidv7(),
    name: checkText('name', input.name, { maxLength: 64 }),
    available_product_features: toJson(input.features ?? []),
  };
  for (const slug of slugCandidates(data.name)) {
    // A slug that is taken must not end the transaction.
    const [created] = await client.organization.createManyAndReturn({
      data: [{ ...data, slug }],
      skipDuplicates: true,
    });
    if (created) return created;
  }
  throw new AppError('unavailable', 'No free slug was found for the organization. Please try again.');
}

/** Oldest first; all of them, or those a user is a member of. */
export async function listOrganizations(
  client: AccountClient,
  filter: { userId?: number } = {},
): Promise<organization[]> {
  return client.organization.findMany({
    where: filter.userId === undefined ? {} : { memberships: { some: { user_id: filter.userId } } },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
  });
}

/** @throws AppError `not_found`. */
export async function getOrganization(client: AccountClient, organizationId: string): Promise<organization> {
  const found = isUuid(organizationId) ? await client.organization.findUnique({ where: { id: organizationId } }) : null;
  if (!found) throw notFound('Organization');
  return found;
}

/**
 * Replaces what the organization's plan includes.
 * @param limits absent = as it was, null = unlimited, else a whole number from 0.
 * @throws AppError `invalid` naming `plan` or the limit, or `not_found`.
 */
export async function setOrganizationPlan(
  client: AccountClient,
  organizationId: string,
  plan: PlanName,
  limits: Partial<PlanLimits> = {},
): Promise<organization> {
  if (!isPlanName(plan)) {
    throw invalidField('plan', 'invalid_choice', `"${plan}" is not a valid choice: ${planNames.join(', ')}.`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw invalidField(name, 'invalid_input', 'A valid integer is required.');
    }
  }
  const { available_product_features: before } = await getOrganization(client, organizationId);
  const features = [...productFeaturesOf(plan), ...toLimitFeatures({ ...limitsOf(before), ...limits })];
  try {
    return await client.organization.update({
      where: { id: organizationId },
      data: { available_product_features: toJson(features), updated_at: new Date() },
    });
  } catch (error) {
    throw isRowMissing(error) ? notFound('Organization', error) : error;
  }
}

function toJson(features: ProductFeature[]): Prisma.InputJsonValue {
  return features.map((feature) => ({ ...feature }));
}
