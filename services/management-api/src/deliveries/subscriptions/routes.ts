import { hasPlanFeature, maskTarget } from '@millrace/contracts';
import type { Database, Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { describeRule } from '@millrace/schedule';
import { Type } from 'typebox';
import { environmentBases, parentEnvironment } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, canSeeSecrets } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { type ReportRouteDeps, reportPictureRoute, reportRoutes, toDelivery } from './reports.ts';
import {
  changeSubscription,
  createSubscription,
  recordSubscriptionActivity,
  requireReportScopes,
  requireSubjectAccess,
  writeWithinSubscriptionLimit,
} from './rules.ts';
import {
  delivery,
  deliveryExample,
  newSubscription,
  newSubscriptionExample,
  subscription,
  subscriptionChanges,
  subscriptionExample,
} from './schema.ts';
import {
  findPlanFeatures,
  findSubscription,
  listDeliveries,
  listSubscriptions,
  type SubscriptionRow,
} from './store.ts';
import { unsubscribeRoutes } from './unsubscribe.ts';

/** The maximum value of a 32-bit integer column. */
const largest = 2_147_483_647;
const params = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: largest, description: 'ID of the subscription.' }),
});
const listQuery = Type.Object({
  ...offsetQuery,
  deleted: Type.Optional(
    Type.String({ description: 'If set to `true`, `1`, `yes`, `y`, `t` or `on`, returns only deleted subscriptions.' }),
  ),
  dashboard: Type.Optional(
    Type.Integer({ maximum: largest, minimum: 1, description: 'Returns only subscriptions to this dashboard.' }),
  ),
  insight: Type.Optional(
    Type.Integer({ maximum: largest, minimum: 1, description: 'Returns only subscriptions to this insight.' }),
  ),
});
const yes = new Set(['true', '1', 'yes', 'y', 't', 'on']);
const pageExample = (result: unknown) => ({ count: 1, next: null, previous: null, results: [result] });

interface SubscriptionDeps extends Pick<Database, 'sql' | 'transaction'>, ReportRouteDeps {
  /** Maximum number of subscriptions per organization. 0 means no limit. */
  maxSubscriptions: number;
}

const show = (row: SubscriptionRow, caller: Caller, level: number) =>
  toSubscription(row, canSeeSecrets(caller, 'subscription:write', level));

/**
 * Declares the subscription routes under environments and, for older clients, under projects
 * (docs/api/subscriptions.md).
 */
export function subscriptionRoutes({ sql, transaction, maxSubscriptions: max, ...deps }: SubscriptionDeps) {
  const path = '/subscriptions';
  const tags: [string] = ['subscriptions'];
  const below = environmentBases(addressedSubscriptions(sql), 'projects_');
  return [
    reportPictureRoute({ sql }),
    ...unsubscribeRoutes({ sql, transaction }),
    ...reportRoutes({ sql, ...deps }, { below, path }),
    ...defineRoutes({
      method: 'GET',
      below,
      path,
      operationId: 'subscriptions_list',
      summary: 'List subscriptions',
      description: "Returns the project's subscriptions that have not been deleted, ordered by ID.",
      tags,
      scope: 'subscription:read',
      query: listQuery,
      responses: { 200: { description: 'One page of subscriptions.', schema: offsetPageSchema(subscription) } },
      examples: { response: pageExample(subscriptionExample) },
      handler: async ({ caller, target: { environmentId, level }, query, request }) => {
        const { deleted, dashboard, insight } = query;
        const filter = { deleted: yes.has(deleted?.toLowerCase() ?? ''), dashboard, insight };
        return offsetPage(request, query, async (window) => {
          const { count, rows } = await listSubscriptions(sql, environmentId, { ...window, filter });
          return { count, results: rows.map((row) => show(row, caller, level)) };
        });
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path,
      operationId: 'subscriptions_create',
      summary: 'Create a subscription',
      description:
        'Creates a subscription. The first report is sent immediately, with `invite_message`, unless `enabled` or ' +
        "`send_test_now` is false. Also requires the scopes to read the report's content: `insight:read`, and " +
        '`dashboard:read` for a dashboard.',
      tags,
      scope: 'subscription:write',
      body: newSubscription,
      responses: { 201: { description: 'The new subscription.', schema: subscription } },
      examples: { request: newSubscriptionExample, response: subscriptionExample },
      handler: async ({ caller, target: address, body }) =>
        transaction(async (tx) => {
          const author = { userId: caller.userId, environmentId: address.environmentId };
          const { after } = await writeWithinSubscriptionLimit(tx, { ...address, max }, async () => {
            const after = await createSubscription(tx, author, { body, now: new Date() });
            if (!after.deleted) requireReportScopes(caller, after);
            await requireSubjectAccess(tx, address, after);
            return { after, isOneMore: !after.deleted };
          });
          await recordSubscriptionActivity(tx, { actor: caller, address }, { after });
          return show(after, caller, address.level);
        }),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/:id`,
      operationId: 'subscriptions_retrieve',
      summary: 'Show a subscription',
      description: 'Returns a subscription, even if it is deleted.',
      tags,
      scope: 'subscription:read',
      params,
      responses: { 200: { description: 'The subscription.', schema: subscription } },
      examples: { response: subscriptionExample },
      handler: async ({ caller, target: { environmentId, level }, params: { id } }) => {
        const row = await findSubscription(sql, environmentId, id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return show(row, caller, level);
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${path}/:id`,
        operationId: `subscriptions_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a subscription' : 'Change or delete a subscription',
        description:
          'Changes the given fields. Fields that are left out do not change. To delete a subscription, set ' +
          '`deleted` to ' +
          'true. To restore it, set `deleted` to false. All changes except deletion also require the scope ' +
          '`insight:read`, ' +
          'and `dashboard:read` for a dashboard.',
        tags,
        scope: 'subscription:write',
        params,
        body: method === 'PUT' ? newSubscription : subscriptionChanges,
        responses: { 200: { description: 'The updated subscription.', schema: subscription } },
        examples: {
          request: method === 'PUT' ? newSubscriptionExample : { deleted: true },
          response: method === 'PUT' ? subscriptionExample : { ...subscriptionExample, deleted: true },
        },
        handler: async ({ caller, target: address, params: { id }, body }) =>
          transaction(async (tx) => {
            const { environmentId } = address;
            const change = await writeWithinSubscriptionLimit(tx, { ...address, max }, async () => {
              const change = await changeSubscription(tx, { environmentId, id }, { changes: body, now: new Date() });
              if (!change.after.deleted) requireReportScopes(caller, change.after);
              for (const about of [change.before, change.after]) await requireSubjectAccess(tx, address, about);
              return { ...change, isOneMore: change.before.deleted && !change.after.deleted };
            });
            await recordSubscriptionActivity(tx, { actor: caller, address }, change);
            return show(change.after, caller, address.level);
          }),
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${path}/:id`,
      operationId: 'subscriptions_destroy',
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Subscriptions cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      tags,
      scope: 'subscription:write',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/:id/deliveries`,
      operationId: 'subscriptions_deliveries_list',
      summary: 'List the reports of a subscription',
      description: 'Returns the reports of the subscription with their target, status and error, the latest first.',
      tags,
      scope: 'subscription:read',
      params,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of reports.', schema: offsetPageSchema(delivery) } },
      examples: { response: pageExample(deliveryExample) },
      handler: async ({ caller, target: { environmentId, level }, params: { id }, query, request }) => {
        if (!(await findSubscription(sql, environmentId, id))) throw new AppError('not_found', 'Not found.');
        const showsSecrets = canSeeSecrets(caller, 'subscription:write', level);
        return offsetPage(request, query, async (window) => {
          const { count, rows } = await listDeliveries(sql, id, window);
          return { count, results: rows.map((row) => toDelivery(row, showsSecrets)) };
        });
      },
    }),
  ];
}

/**
 * Creates a function that finds the environment in the path of a subscription request. Throws the errors of
 * `parentEnvironment`, and AppError `payment_required` if the organization's plan does not include subscriptions
 * (docs/api/organizations.md#plans).
 */
function addressedSubscriptions(sql: Sql) {
  const address = parentEnvironment(sql);
  return async (context: Parameters<typeof address>[0]): Promise<AddressedProject> => {
    const addressed = await address(context);
    if (!hasPlanFeature(await findPlanFeatures(sql, addressed.organizationId), 'subscriptions')) {
      throw new AppError(
        'payment_required',
        "This feature is part of the premium Millrace offering. The organization's plan does not include " +
          'subscriptions.',
      );
    }
    return addressed;
  };
}

/**
 * Converts a subscription to an API response.
 * @param showsSecrets whether the caller can see secrets (docs/api/README.md#secrets-in-responses)
 */
function toSubscription(row: SubscriptionRow, showsSecrets: boolean) {
  return {
    ...row,
    target_value: showsSecrets ? row.target_value : maskTarget(row.target_value),
    byweekday: row.byweekday && [...row.byweekday],
    start_date: formatDateTime(row.start_date),
    until_date: row.until_date && formatDateTime(row.until_date),
    created_at: formatDateTime(row.created_at),
    summary: describeRule(row),
    next_delivery_date: row.next_delivery_date && formatDateTime(row.next_delivery_date),
    // The invite message is not stored. It is used only in the emails that this request sends.
    invite_message: null,
  };
}
