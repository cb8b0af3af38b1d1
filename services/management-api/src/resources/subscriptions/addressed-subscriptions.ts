import { hasPlanFeature } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { parentEnvironment } from '../../access/parent-environment.ts';
import { findPlanFeatures } from './plan-features-store.ts';

/**
 * The environment whose subscriptions a path addresses. The returned function throws as `parentEnvironment` does, and
 * AppError `payment_required` when the organization's plan has none (docs/api-rules.md#plans).
 */
export function addressedSubscriptions(sql: Sql) {
  const address = parentEnvironment(sql);
  return async (context: { caller: Caller; params: { project_id: string } }): Promise<AddressedProject> => {
    const addressed = await address(context);
    if (!hasPlanFeature(await findPlanFeatures(sql, addressed.organizationId), 'subscriptions')) {
      throw new AppError(
        'payment_required',
        "This feature is part of the premium Millrace offering. The organization's plan does not include subscriptions.",
      );
    }
    return addressed;
  };
}
