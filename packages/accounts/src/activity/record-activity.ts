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
 * Who did it: a user, an operator by a command like `member set-level`, the provider of a domain by SCIM, or null for the
 * system itself.
 */
export type Actor = { userId: number } | { command: string } | { scimDomain: string } | null;

export interface Activity {
  /** The organization in whose history it stands; null for what belongs to a person or the installation. */
  organizationId: string | null;
  /** Only for what belongs to one environment. */
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
 * (docs/api/activity.md). An update that changed nothing leaves no record.
 *
 * @param tx the transaction of the change, which whoever answers for the whole opens: a route handler or a command. Stores
 *   and this function never open one. What other processes have to hear (`announceKeyChange`) is said after the commit.
 */
export async function recordActivity(tx: Sql, activity: Activity): Promise<void> {
  const { scope, change, actor } = activity;
  const changes = activity.changes ?? (change ? changedFields(scope, change) : null);
  if (activity.activity === 'updated' && changes?.length === 0) return;
  await insertActivity(tx, {
    id: uuidv7(),
    organization_id: activity.organizationId,
    environment_id: activity.environmentId ?? null,
    user_id: userIdOf(actor),
    scope,
    item_id: String(activity.itemId),
    activity: activity.activity,
    detail: { name: activity.name, short_id: null, type: null, trigger: triggerOf(actor), changes },
  });
}

/** What a person did with the own account, or what an `actor` did to it. It belongs to no organization. */
export async function recordOwnActivity(
  tx: Sql,
  user: { id: number; uuid: string; email: string },
  done: Pick<Activity, 'activity' | 'change' | 'changes'> & { actor?: Actor },
): Promise<void> {
  const about = { organizationId: null, scope: 'User', itemId: user.uuid, name: user.email } as const;
  await recordActivity(tx, { ...about, actor: { userId: user.id }, ...done });
}

/** The user who did it; null where it was none. */
export function userIdOf(actor: Actor): number | null {
  return actor && 'userId' in actor ? actor.userId : null;
}

/** Behind a command or a provider there is no person whom we know, so the record says where it came from. */
function triggerOf(actor: Actor) {
  if (actor && 'command' in actor) return { job_type: 'command_line', job_id: actor.command, payload: {} } as const;
  return actor && 'scimDomain' in actor ? { job_type: 'scim', job_id: actor.scimDomain, payload: {} } : null;
}
