import { createOwnedOrganization, listOrganizations, setCurrentEnvironment } from '@millrace/accounts';
import { hasPlanFeature, listProductFeatures, type ProductFeature } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { newOrganization } from './schema.ts';

/**
 * Creates an organization that the caller owns, and a project in it. Both become the caller's current ones. A user's
 * first organization has all features. For further organizations, the user needs a plan that allows several
 * organizations, and each one gets the same plan.
 * @returns the organization ID
 * @throws AppError `forbidden` if the plan does not allow another organization
 */
export async function createOwnOrganization(
  tx: Transaction,
  caller: Caller,
  body: Static<typeof newOrganization>,
): Promise<string> {
  const { name, logo_media_id: _, ...settings } = body;
  const { organization, environment } = await createOwnedOrganization(tx, {
    name,
    features: await featuresOfNew(tx, caller),
    settings,
    ownerId: caller.userId,
    actor: caller,
  });
  const organizationId = organization.id;
  await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: environment.id });
  return organizationId;
}

async function featuresOfNew(tx: Transaction, caller: Caller): Promise<ProductFeature[]> {
  const own = await listOrganizations(tx, { userId: caller.userId });
  if (own.length === 0) return listProductFeatures('full');
  const allowing = own.find(({ available_product_features: features }) =>
    hasPlanFeature(features, 'organizations_projects'),
  );
  if (allowing) return allowing.available_product_features as ProductFeature[];
  throw new AppError(
    'forbidden',
    'You must upgrade your Millrace plan to be able to create and manage multiple organizations.',
  );
}
