// Records changes in the activity log: who changed which record, and which fields changed.

import type { Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import { insertActivity } from './activity-store.ts';
import { changedFields, type FieldChange } from './changed-fields.ts';

/** The kind of record that an activity is about. Existing clients refer to an environment as `Team`. */
export type ActivityScope =
  | 'Organization'
  | 'OrganizationDomain'
  | 'OrganizationInvite'
  | 'OrganizationMembership'
  | 'Role'
  | 'PersonalAPIKey'
  | 'User'
  | 'Project'
  | 'Team'
  | 'Subscription'
  | 'BatchExport'
  | 'Cohort'
  | 'FeatureFlag'
  | 'Insight'
  | 'InsightVariable'
  | 'Dashboard'
  | 'EarlyAccessFeature'
  | 'Annotation'
  | 'Person'
  | 'EventDefinition'
  | 'PropertyDefinition'
  | 'GroupType'
  | 'IngestionRestriction'
  | 'DeadLetter';

/**
 * The author of a change: a user, an operator with a command such as `member set-level`, a domain's identity provider
 * through SCIM, or null for the system.
 */
export type Actor = { userId: number } | { command: string } | { scimDomain: string } | null;

export interface Activity {
  /** The organization whose activity log contains the entry, or null for changes to a user or the installation. */
  organizationId: string | null;
  /** The environment, if the change affects a single environment. */
  environmentId?: number;
  scope: ActivityScope;
  itemId: string | number;
  activity:
    | 'created'
    | 'updated'
    | 'deleted'
    | 'restored'
    | 'split_person'
    | 'logged_in'
    | 'logged_out'
    | 'second_factor_refused';
  actor: Actor;
  /** The record's display name, such as its title. Must not be an API key. */
  name: string | null;
  /** The record before and after an update. Fields that cannot change may be omitted. */
  change?: {
    before: object;
    after: object;
    secret?: readonly string[];
  };
  /** The changed fields, used instead of `change` if comparing the values would reveal a secret or miss the change. */
  changes?: FieldChange[];
}

/**
 * Records a change in the activity log (docs/api/activity.md). Must run in the same transaction as the change, so that
 * either both or neither are stored. Does not record an update that changed nothing.
 * @param tx the transaction that a route handler or a command has opened for the change. Notify other processes
 *   (`announceKeyChange`) only after it is committed.
 */
export async function recordActivity(tx: Sql, activity: Activity): Promise<void> {
  const { scope, change, actor } = activity;
  const changes = activity.changes ?? (change ? changedFields(scope, change) : null);
  if (activity.activity === 'updated' && changes?.length === 0) return;
  await insertActivity(tx, {
    id: uuidv7(),
    organization_id: activity.organizationId,
    environment_id: activity.environmentId ?? null,
    user_id: getActorUserId(actor),
    scope,
    item_id: String(activity.itemId),
    activity: activity.activity,
    detail: { name: activity.name, short_id: null, type: null, trigger: triggerOf(actor), changes },
  });
}

/**
 * Records a change to a user's account, which does not belong to any organization. The author is the user unless
 * `actor` is given.
 */
export async function recordOwnActivity(
  tx: Sql,
  user: { id: number; uuid: string; email: string },
  done: Pick<Activity, 'activity' | 'change' | 'changes'> & { actor?: Actor },
): Promise<void> {
  const about = { organizationId: null, scope: 'User', itemId: user.uuid, name: user.email } as const;
  await recordActivity(tx, { ...about, actor: { userId: user.id }, ...done });
}

export function getActorUserId(actor: Actor): number | null {
  return actor && 'userId' in actor ? actor.userId : null;
}

/** Commands and identity providers are not users, so they are recorded as the trigger. */
function triggerOf(actor: Actor) {
  if (actor && 'command' in actor) return { job_type: 'command_line', job_id: actor.command, payload: {} } as const;
  return actor && 'scimDomain' in actor ? { job_type: 'scim', job_id: actor.scimDomain, payload: {} } : null;
}
