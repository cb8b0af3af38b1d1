import { randomUUID } from 'node:crypto';
import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { newProjectToken } from '../keys/key-values.ts';
import type { NewSettings } from './check-new-settings.ts';
import { defaultAccountFilters } from './default-account-filters.ts';
import { findMemberDomains, insertEnvironment, type StoredEnvironment } from './environment-store.ts';

/**
 * Writes a new environment: with a key of its own, with filters that leave the members of the organization out unless it
 * is demo data or has filters of its own, and with its record.
 *
 * @param id of a project's first environment; null takes the next free one.
 */
export async function createWithDefaults(
  tx: Transaction,
  {
    organizationId,
    projectId,
    id,
    settings,
    actor,
  }: { organizationId: string; projectId: number; id: number | null; settings: NewSettings; actor: Actor },
): Promise<StoredEnvironment> {
  const filters = settings.is_demo === true ? [] : defaultAccountFilters(await findMemberDomains(tx, organizationId));
  const environment = await insertEnvironment(tx, {
    id,
    projectId,
    columns: { uuid: randomUUID(), api_token: newProjectToken(), test_account_filters: filters, ...settings },
  });
  await recordActivity(tx, {
    ...{ organizationId, environmentId: environment.id, scope: 'Team', itemId: environment.id },
    ...{ activity: 'created', actor, name: environment.name },
  });
  return environment;
}
