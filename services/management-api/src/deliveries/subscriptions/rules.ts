// Creates and changes subscriptions. Enforces the limit, queues immediate reports, and records changes in the activity
// log.

import { lockOrganization, recordActivity } from '@millrace/accounts';
import { listSubscriptionTargets, maskTarget } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import type { ReportContent } from '@millrace/reports';
import { AppError, hasLink } from '@millrace/runtime';
import { nextDeliveryDate } from '@millrace/schedule';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { createForbiddenError, createVisibilityCheck, findRecord, requireRecord } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';
import {
  applySubscriptionChanges,
  checkSubscription,
  fillSubscriptionDefaults,
  nextDateAfterChange,
  type SubscriptionFields,
  toRule,
} from './fields.ts';
import type { newSubscription, subscriptionChanges } from './schema.ts';
import {
  cancelDeliveries,
  cancelDeliveriesTo,
  countSubscriptions,
  findInsightsOfDashboard,
  findReportedInsights,
  findSubscription,
  insertDeliveries,
  insertSubscription,
  lockSubscription,
  type SubscriptionRow,
  subjectExists,
  type Unsubscribable,
  updateSubscription,
} from './store.ts';

interface Author {
  userId: number;
  environmentId: number;
}

/**
 * Creates a subscription. All its targets get a first report immediately, with the invite message
 * (docs/api/subscriptions.md). The first report does not change the next date.
 * @throws AppError `invalid` naming the field
 */
export async function createSubscription(
  tx: Transaction,
  author: Author,
  { body, now }: { body: Static<typeof newSubscription>; now: Date },
): Promise<SubscriptionRow> {
  const fields = fillSubscriptionDefaults(body);
  await checkSubjects(tx, author.environmentId, { before: null, fields });
  await checkChosenInsights(tx, { before: null, fields });
  checkSubscription(fields);
  const inviteMessage = checkInviteMessage(body.invite_message);
  const timeZone = await findTimeZone(tx, author.environmentId);
  const next = fields.enabled ? nextDeliveryDate(toRule(fields), { now, previous: null, timeZone }) : null;
  const id = await insertSubscription(
    tx,
    { environmentId: author.environmentId, createdById: author.userId },
    { fields, nextDeliveryDate: next },
  );
  if (!fields.deleted && (body.send_test_now ?? fields.enabled)) {
    await insertDeliveries(tx, id, { targets: listSubscriptionTargets(fields), occasion: 'created', inviteMessage });
  }
  return found(await findSubscription(tx, author.environmentId, id));
}

/**
 * Changes only the given fields. Locks the row, so that concurrent changes to different fields are kept. New targets
 * get a report immediately. A deleted subscription sends no more reports.
 * @throws AppError `not_found`, or `invalid` naming the field
 */
export async function changeSubscription(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number },
  { changes, now }: { changes: Static<typeof subscriptionChanges>; now: Date },
): Promise<{ before: SubscriptionRow; after: SubscriptionRow }> {
  const before = found(await lockSubscription(tx, environmentId, id));
  // Responses can contain a masked target. A client that has received only the mask sends it back with the other
  // fields.
  const isMask = changes.target_value === maskTarget(before.target_value);
  const fields = applySubscriptionChanges(before, isMask ? { ...changes, target_value: before.target_value } : changes);
  await checkSubjects(tx, environmentId, { before, fields });
  await checkChosenInsights(tx, { before, fields });
  checkSubscription(fields);
  const inviteMessage = checkInviteMessage(changes.invite_message);
  const timeZone = await findTimeZone(tx, environmentId);
  await updateSubscription(tx, id, {
    fields,
    nextDeliveryDate: nextDateAfterChange(before, fields, { now, timeZone }),
  });
  if (fields.deleted || (before.enabled && !fields.enabled)) await cancelDeliveries(tx, id);
  if (!fields.deleted && (changes.send_test_now ?? fields.enabled)) {
    await insertDeliveries(tx, id, {
      targets: changes.send_test_now ? listSubscriptionTargets(fields) : addedTargets(before, fields),
      occasion: changes.send_test_now ? 'test' : 'target_changed',
      inviteMessage,
    });
  }
  return { before, after: found(await findSubscription(tx, environmentId, id)) };
}

/**
 * Rejects an invite message with a link, because the invite message can be sent to any email address.
 * @throws AppError `invalid` naming `invite_message`
 */
function checkInviteMessage(message: string | null | undefined): string | null {
  if (message == null || !hasLink(message)) return message ?? null;
  throw new AppError('invalid', 'A message cannot contain links ("://").', {
    code: 'invalid_input',
    attr: 'invite_message',
  });
}

/** The maximum value of a 32-bit integer column. */
const largestId = 2_147_483_647;

/**
 * Checks that the dashboard and the insight exist, if they have changed or the subscription is restored. A subscription
 * can have a dashboard, an insight, both or neither: PostHog does not check this either, and the example in its
 * documentation has neither. Records of another project get the same error as missing records.
 * @throws AppError `invalid` naming the field
 */
async function checkSubjects(
  tx: Transaction,
  environmentId: number,
  { before, fields }: { before: SubscriptionRow | null; fields: SubscriptionFields },
): Promise<void> {
  const isRestored = before?.deleted === true && !fields.deleted;
  for (const name of ['dashboard', 'insight'] as const) {
    const id = fields[name];
    if (id === null || (id === before?.[name] && !isRestored)) continue;
    if (id > 0 && id <= largestId && (await subjectExists(tx, { environmentId, name, id }))) continue;
    throw new AppError('invalid', `Invalid pk "${id}" - object does not exist.`, {
      code: 'does_not_exist',
      attr: name,
    });
  }
}

/** Checks that newly chosen insights are on the dashboard. @throws AppError `invalid` naming the field */
async function checkChosenInsights(
  tx: Transaction,
  { before, fields }: { before: SubscriptionRow | null; fields: SubscriptionFields },
): Promise<void> {
  const { dashboard, insight, dashboard_export_insights: insights } = fields;
  const choice = JSON.stringify({ dashboard, insight, insights });
  const { dashboard: d, insight: i, dashboard_export_insights: chosen } = before ?? fields;
  if (insights.length === 0 || (before && choice === JSON.stringify({ dashboard: d, insight: i, insights: chosen })))
    return;
  const refusal = (detail: string) =>
    new AppError('invalid', detail, { code: 'invalid_input', attr: 'dashboard_export_insights' });
  if (dashboard === null || insight !== null)
    throw refusal('`dashboard_export_insights` requires `dashboard` to be set and `insight` to be null.');
  const found = new Set(await findInsightsOfDashboard(tx, { dashboard, insights }));
  const unknown = insights.find((id) => !found.has(id));
  if (unknown !== undefined) throw refusal(`Insight ${unknown} is not on dashboard ${dashboard}.`);
}

function found(row: SubscriptionRow | undefined): SubscriptionRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

interface Target {
  target_type: string;
  target_value: string;
}

/**
 * Returns the targets that get a report after a change: each new email address, or a changed target of another kind
 * (docs/api/subscriptions.md).
 */
function addedTargets(before: Target, after: Target): string[] {
  const known = before.target_type === after.target_type ? new Set(listSubscriptionTargets(before)) : new Set<string>();
  return listSubscriptionTargets(after).filter((target) => !known.has(target));
}

/**
 * Runs a write that may add a subscription, and enforces the organization's limit. Locks the organization, so that
 * concurrent requests cannot exceed the limit. The transaction must not hold any lock before this one.
 * @param max the maximum number of an organization's subscriptions, without deleted ones. 0 means no limit.
 * @param write a function that returns whether it added a subscription
 * @throws AppError `invalid` if the limit is exceeded
 */
export async function writeWithinSubscriptionLimit<T extends { isOneMore: boolean }>(
  tx: Transaction,
  { organizationId, max }: { organizationId: string; max: number },
  write: () => Promise<T>,
): Promise<T> {
  await lockOrganization(tx, organizationId);
  const written = await write();
  if (max > 0 && written.isOneMore && (await countSubscriptions(tx, organizationId)) > max) {
    throw new AppError(
      'invalid',
      `An organization can have at most ${max} subscriptions. Delete one that you no longer need.`,
      {
        code: 'limit_exceeded',
      },
    );
  }
  return written;
}

/**
 * Returns the fields that users can change. Replaces the targets, because they can be private addresses. The activity
 * log shows only that a target has changed.
 */
function visible(row: SubscriptionRow) {
  const { created_by: _, next_delivery_date: __, created_at: ___, start_date, until_date, ...fields } = row;
  return { ...fields, start_date: start_date.toISOString(), until_date: until_date?.toISOString() ?? null };
}

interface SubscriptionAddress {
  organizationId: string;
  environmentId: number;
}

export async function recordSubscriptionActivity(
  tx: Sql,
  { actor, address }: { actor: { userId: number } | null; address: SubscriptionAddress },
  { before, after }: { before?: SubscriptionRow; after: SubscriptionRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: address.environmentId,
    scope: 'Subscription',
    itemId: after.id,
    activity: before === undefined ? 'created' : after.deleted && !before.deleted ? 'deleted' : 'updated',
    actor: actor && { userId: actor.userId },
    name: after.title,
    ...(before && { change: { before: visible(before), after: visible(after), secret: ['target_value'] } }),
  });
}

/**
 * Checks that a key has the scopes to read the contents of a report: an insight, or a dashboard with its insights.
 * @throws AppError `forbidden`
 */
export function requireReportScopes(
  caller: Pick<Caller, 'scopes'>,
  { dashboard }: Pick<SubscriptionRow, 'dashboard'>,
): void {
  requireScope(caller, 'insight:read');
  if (dashboard !== null) requireScope(caller, 'dashboard:read');
}

/**
 * Checks the caller's access to the contents of a report: an insight, or a dashboard with all its insights.
 * @throws AppError `forbidden`
 */
export async function requireSubjectAccess(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { insight, dashboard }: Pick<SubscriptionRow, 'insight' | 'dashboard'>,
): Promise<void> {
  if (rights.rules === null || rights.rules.length === 0) return;
  const found =
    dashboard === null ? undefined : await findRecord(sql, environmentId, { kind: 'dashboard', id: dashboard });
  if (found) requireRecord(rights, 'dashboard', 'viewer', found);
  const insights = await findReportedInsights(sql, environmentId, { insight, dashboard });
  for (const one of insights) requireRecord(rights, 'insight', 'viewer', one);
  const queried = insights.map((one) => one.queried);
  await requireReferencedRecords(sql, { environmentId, rights }, queried);
}

/**
 * Checks access to the insight or dashboard in a sent report. The subscription may have a different one by now.
 * @throws AppError `forbidden`
 */
export async function requireReportAccess(
  sql: Sql,
  { caller, target }: { caller: Pick<Caller, 'scopes'>; target: Pick<AddressedProject, 'environmentId' | 'rights'> },
  { subscription, content }: { subscription: SubscriptionRow; content: ReportContent | null },
): Promise<void> {
  requireReportScopes(caller, subscription);
  await requireSubjectAccess(sql, target, subscription);
  if (content === null) return;
  const { environmentId, rights } = target;
  const { kind, id, insights } = content;
  if (kind === 'dashboard') requireReportScopes(caller, { dashboard: id });
  const isSubjectSeen = await createVisibilityCheck(sql, rights, { environmentId, kind });
  const isInsightSeen = await createVisibilityCheck(sql, rights, { environmentId, kind: 'insight' });
  if (!isSubjectSeen({ id }) || !insights.every(isInsightSeen)) throw createForbiddenError('viewer');
}

/** Removes an email recipient at their request. Deletes the subscription if no recipient remains. */
export async function unsubscribe(
  tx: Transaction,
  { subscriptionId: id, environmentId, organizationId, email }: Unsubscribable,
): Promise<void> {
  const before = found(await lockSubscription(tx, environmentId, id));
  const targets = listSubscriptionTargets(before);
  const others = targets.filter((target) => target !== email);
  if (before.deleted || others.length === targets.length) return;
  const isLast = others.length === 0;
  // Keep the last email address, so that a restored subscription still has a target.
  const fields = { ...before, target_value: isLast ? before.target_value : others.join(','), deleted: isLast };
  await updateSubscription(tx, id, { fields, nextDeliveryDate: before.next_delivery_date });
  await cancelDeliveriesTo(tx, id, email);
  const address = { organizationId, environmentId };
  const after = found(await findSubscription(tx, environmentId, id));
  await recordSubscriptionActivity(tx, { actor: null, address }, { before, after });
}
