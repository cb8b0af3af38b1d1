import {
  type AccountClient,
  addMember,
  createOrganization,
  createProject,
  listOrganizations,
} from '@millrace/accounts';
import { hasPlanFeature, membershipLevels, type ProductFeature, productFeaturesOf } from '@millrace/contracts';
import { type Database, sqlOf } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import { recordActivity } from '../activity/record-activity.ts';
import type { newOrganization } from './organization-schema.ts';
import { recordAccountActivity } from './record-account-activity.ts';

/**
 * Makes an organization with a project, owned by the caller, and makes both the caller's current ones. A first
 * organization has every feature, as a self-hosted installation starts with; a further one needs a plan that allows
 * several, and has the same plan.
 *
 * @returns its id, and the API key of its project.
 * @throws AppError `forbidden` without such a plan.
 */
export async function createOwnOrganization(
  prisma: Database['prisma'],
  caller: Caller,
  body: Static<typeof newOrganization>,
): Promise<{ organizationId: string; token: string }> {
  return prisma.$transaction(async (client) => {
    const features = await featuresOfNew(client, caller);
    const created = await createOrganization(client, { name: body.name, features });
    await client.organization.update({
      where: { id: created.id },
      data: {
        is_member_join_email_enabled: body.is_member_join_email_enabled ?? true,
        enforce_2fa: body.enforce_2fa ?? null,
      },
    });
    await addMember(client, { organizationId: created.id, userId: caller.userId, level: membershipLevels.owner });
    const { project, environment } = await createProject(client, { organizationId: created.id });
    await client.user.update({
      where: { id: caller.userId },
      data: { current_organization_id: created.id, current_environment_id: environment.id },
    });
    await recordAccountActivity(sqlOf(client), {
      organizationId: created.id,
      userId: caller.userId,
      activity: 'created',
      scope: 'Organization',
      itemId: created.id,
      name: created.name,
    });
    const target = { organizationId: created.id, environmentId: environment.id, itemId: project.id };
    const done = { ...target, activity: 'created', actor: { userId: caller.userId } } as const;
    await recordActivity(sqlOf(client), { ...done, scope: 'Project', name: project.name });
    await recordActivity(sqlOf(client), { ...done, scope: 'Team', name: environment.name });
    return { organizationId: created.id, token: environment.api_token };
  });
}

async function featuresOfNew(client: AccountClient, caller: Caller): Promise<ProductFeature[]> {
  const own = await listOrganizations(client, { userId: caller.userId });
  if (own.length === 0) return productFeaturesOf('full');
  const allowing = own.find(({ available_product_features: features }) =>
    hasPlanFeature(features, 'organizations_projects'),
  );
  if (allowing) return allowing.available_product_features as unknown as ProductFeature[];
  throw new AppError(
    'forbidden',
    'You must upgrade your Millrace plan to be able to create and manage multiple organizations.',
  );
}
