import type { Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import { insertActivity } from './activity-store.ts';
import { changedFields, type FieldChange } from './changed-fields.ts';

/** What kind of record an activity is about. An environment is called `Team` by existing clients. */
export type ActivityScope =
  | 'Organization'
  | 'OrganizationDomain'
  | 'OrganizationInvite'
  | 'OrganizationMembership'
  | 'PersonalAPIKey'
  | 'User'
  | 'Project'
  | 'Team'
  | 'Subscription'
  | 'BatchExport';

export interface Activity {
  /** The organization in whose history it stands; null for what belongs to a person. */
  organizationId: string | null;
  /** Only for what belongs to one environment. */
  environmentId?: number;
  scope: ActivityScope;
  itemId: string | number;
  activity: 'created' | 'updated' | 'deleted';
  /** Who did it, usually the caller; null for the system itself. */
  actor: { userId: number } | null;
  /** What a person calls the record, e.g. its name or title; never a key. */
  name: string | null;
  /** For `updated`: the record (or its fields that may change) on both sides. */
  change?: {
    before: object;
    after: object;
    /** Fields whose values stay out of the record. */
    secret?: readonly string[];
  };
  /** Instead of `change` where a comparison of values would tell too much or too little. */
  changes?: FieldChange[];
}

/**
 * Writes down who changed what, in the transaction of the change: either both are kept or none
 * (reference/management-api.md 8.5). An update that changed nothing leaves no record.
 *
 * @param tx the transaction of the change. A route handler opens it (`deps.transaction(async (tx) => …)`, or
 *   `deps.prisma.$transaction(async (client) => …)` with `sqlOf(client)`) around its stores and this call; stores and
 *   this function never open one. What other processes have to hear (`announceKeyChange`) is said after the commit.
 */
export async function recordActivity(tx: Sql, activity: Activity): Promise<void> {
  const { scope, change } = activity;
  const changes = activity.changes ?? (change ? changedFields(scope, change) : null);
  if (activity.activity === 'updated' && changes?.length === 0) return;
  await insertActivity(tx, {
    id: uuidv7(),
    organization_id: activity.organizationId,
    environment_id: activity.environmentId ?? null,
    user_id: activity.actor?.userId ?? null,
    scope,
    item_id: String(activity.itemId),
    activity: activity.activity,
    detail: { name: activity.name, short_id: null, type: null, trigger: null, changes },
  });
}
