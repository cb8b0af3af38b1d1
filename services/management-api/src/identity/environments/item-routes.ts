// The routes of one project or environment, its secret keys included.

import {
  listProjectSecretKeys,
  type ProjectSecretKey,
  resetToken,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { type TSchema, Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireNamedRecords } from '../../access/named-records.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { type ItemDeps, type ItemKind, showItem } from './item.ts';
import { checkDemoChange, checkPrimaryDashboard, checkTestAccountFilters, requireAccessControlLevel } from './rules.ts';
import { refusedSettings, type SecretFields, secretKeyMasks } from './schema.ts';
import { upsertProductIntent } from './store.ts';

const intent = {
  product_type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Product in which the user is interested, for example `surveys`. Required unless the request changes a setting.',
    }),
  ),
  intent_context: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Where in the product the user showed interest. Defaults to `unknown`.',
    }),
  ),
  metadata: Type.Optional(Type.Unknown({ description: 'Accepted, but not stored.' })),
};

/** The names of the intent's own fields, beside which a request may carry settings. */
const intentFields = new Set(Object.keys(intent));

/**
 * Reading, changing and removing one project or one environment, and what else can be done to it: the same for every path
 * under which it is addressed (docs/api/projects.md#projects, docs/api/projects.md#environments).
 */
export function itemRoutes(deps: ItemDeps, itemKind: ItemKind) {
  const { sql, transaction } = deps;
  const { kind, below, schema, example, changes } = itemKind;
  const tags: [string] = [`${kind}s`];
  const shown = { description: `The ${kind}.`, schema };

  const show = (caller: Caller, found: AddressedProject) => showItem(deps, itemKind, { caller, target: found });

  const change: ItemKind['change'] = async (tx, context) => {
    await checkDemoChange(tx, context.caller, context);
    requireAccessControlLevel(context.caller, context.target.organizationId, context.sent);
    await requireNamedRecords(tx, context.target, context.sent.test_account_filters);
    await checkTestAccountFilters(tx, context.target.environmentId, context.sent);
    await checkPrimaryDashboard(tx, context.target.environmentId, context.sent);
    return itemKind.change(tx, context);
  };

  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: '',
      operationId: 'retrieve',
      summary: `Show ${kind === 'project' ? 'a project' : 'an environment'}`,
      description: `Returns the ${kind} with all of its settings.`,
      tags,
      scope: 'project:read',
      responses: { 200: shown },
      examples: { response: example },
      handler: ({ caller, target: found }) => show(caller, found),
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: '',
        operationId: method === 'PUT' ? 'update' : 'partial_update',
        summary: `${method === 'PUT' ? 'Replace' : 'Change'} ${kind === 'project' ? "a project's" : "an environment's"} settings`,
        description:
          'Changes the fields that are sent. Null resets fields that can be null. Unknown fields are ignored.',
        tags,
        scope: 'project:write',
        body: changes,
        refusedBody: refusedSettings,
        responses: { 200: shown },
        examples: { request: { timezone: 'Europe/Lisbon' }, response: example },
        handler: async ({ caller, target: found, body: sent }) => {
          await transaction((tx) => change(tx, { caller, target: found, sent }));
          return show(caller, found);
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: '',
      operationId: 'destroy',
      summary: `Delete ${kind === 'project' ? 'a project' : 'an environment'}`,
      description: `Deletes the ${kind} and its API key immediately. Stored events are deleted in the background.`,
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 204: { description: 'Deleted.' } },
      handler: async ({ caller, target: found }) => {
        await itemKind.remove({ caller, target: found });
        return undefined;
      },
    }),
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: '/reset_token',
      operationId: 'reset_token',
      summary: 'Replace the project API key',
      description: 'Creates a new project API key. From then on, events sent with the old key are rejected.',
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 200: shown },
      examples: { response: example },
      handler: async ({ caller, target: found }) => {
        await transaction((tx) => resetToken(tx, { environmentId: found.environmentId, actor: caller }));
        return show(caller, found);
      },
    }),
    ...secretKeyRoutes(deps, itemKind),
    ...defineRoutes({
      method: 'GET',
      below,
      path: '/is_generating_demo_data',
      operationId: 'is_generating_demo_data',
      summary: 'Show whether demo data is being generated',
      description: 'Always returns false: Millrace does not generate demo data.',
      tags,
      scope: 'project:read',
      responses: {
        200: {
          description: 'Whether demo data is being generated.',
          schema: Type.Object(
            { is_generating_demo_data: Type.Boolean({ description: 'Always false.' }) },
            { title: 'DemoData' },
          ),
        },
      },
      examples: { response: { is_generating_demo_data: false } },
      handler: async () => ({ is_generating_demo_data: false }),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: '/activity',
      operationId: 'activity',
      summary: `Show ${kind === 'project' ? "a project's" : "an environment's"} activity log`,
      description: `Returns the changes made to the ${kind}, most recent first. Secret values are not recorded.`,
      tags,
      scope: 'project:read',
      query: activityQuery,
      responses: {
        200: {
          description: 'One page of log entries.',
          schema: activityPage,
          ...(itemKind.isActivityOnlyIfPreferred && { onlyIfPreferred: true as const }),
        },
      },
      examples: { response: activityExample },
      handler: ({ target: { environmentId }, query, request }) =>
        readActivity(sql, request, { ...query, scopes: itemKind.activityScopes, itemId: String(environmentId) }),
    }),
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: '/add_product_intent',
      operationId: 'add_product_intent',
      summary: 'Record interest in a product',
      description:
        "Records the caller's interest in a product and increases a counter. The request can also change settings.",
      tags,
      scope: 'project:write',
      body: Type.Object<Record<string, TSchema>>(
        { ...intent, ...changes.properties },
        { title: kind === 'project' ? 'ProjectIntent' : 'EnvironmentIntent' },
      ),
      refusedBody: refusedSettings,
      responses: { 201: shown },
      examples: { request: { product_type: 'surveys', intent_context: 'onboarding' }, response: example },
      handler: async ({ caller, target: found, body: given }) => {
        const sent = Object.fromEntries(Object.entries(given).filter(([field]) => !intentFields.has(field)));
        const { product_type: productType, intent_context: context = 'unknown' } = given;
        const hasSettings = Object.keys(sent).length > 0;
        if (productType === undefined && !hasSettings) {
          throw new AppError('invalid', 'This field is required.', { code: 'required', attr: 'product_type' });
        }
        await transaction(async (tx) => {
          if (hasSettings) await change(tx, { caller, target: found, sent });
          if (productType !== undefined) {
            const wish = { productType: String(productType), context: String(context) };
            await upsertProductIntent(tx, found.environmentId, wish);
          }
        });
        return show(caller, found);
      },
    }),
  ];
}

/**
 * Secret keys (`phs_…`), with which servers read flag definitions (docs/api/projects.md#secret-keys): made and rolled, and the
 * former one taken away. The rules are those of the command line (packages/accounts).
 */
function secretKeyRoutes(deps: ItemDeps, itemKind: ItemKind) {
  const { kind, below, schemaWithSecretKeys, example } = itemKind;
  const common = {
    method: 'PATCH',
    tags: [`${kind}s`] as [string],
    scope: 'project:write',
    isSensitive: true,
    level: 8,
    responses: { 200: { description: `The ${kind} with its secret keys.`, schema: schemaWithSecretKeys } },
    below,
  } as const;

  return [
    ...defineRoutes({
      method: 'GET',
      tags: [`${kind}s`],
      scope: 'project:read',
      below,
      path: '/secret_tokens',
      operationId: 'secret_tokens',
      summary: 'List the secret keys',
      description: 'Returns the masked secret keys. The full key is returned only once, when it is created.',
      responses: { 200: { description: 'The masked secret keys.', schema: secretKeyMasks } },
      examples: { response: { secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async ({ target: { environmentId } }) =>
        toSecretFields(await listProjectSecretKeys(deps.sql, environmentId)),
    }),
    ...defineRoutes({
      ...common,
      path: '/rotate_secret_token',
      operationId: 'rotate_secret_token',
      summary: 'Create or rotate the secret key',
      description:
        'Creates a new secret key and returns it. The key is not returned again. The previous key stays valid as a backup, and an older backup stops working.',
      examples: {
        response: {
          ...example,
          secret_api_token: `phs_${'example'.repeat(6)}`,
          secret_api_token_backup: 'phs_...1234',
        },
      },
      handler: async ({ caller, target: found }) => {
        const { environmentId } = found;
        const { keys, value } = await deps.transaction((tx) =>
          rollProjectSecretKey(tx, { environmentId, actor: caller }),
        );
        const shown = await showItem(deps, itemKind, { caller, target: found });
        return { ...shown, ...toSecretFields(keys), secret_api_token: value };
      },
    }),
    ...defineRoutes({
      ...common,
      path: '/delete_secret_token_backup',
      operationId: 'delete_secret_token_backup',
      summary: 'Delete the backup secret key',
      description: 'Revokes the previous secret key. If no backup key exists, nothing changes.',
      examples: { response: { ...example, secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async ({ caller, target: found }) => {
        const { environmentId } = found;
        await deps.transaction((tx) =>
          revokeProjectSecretKeys(tx, { environmentId, slots: ['backup'], actor: caller }),
        );
        const shown = await showItem(deps, itemKind, { caller, target: found });
        return { ...shown, ...toSecretFields(await listProjectSecretKeys(deps.sql, environmentId)) };
      },
    }),
  ];
}

function toSecretFields(keys: readonly ProjectSecretKey[]): SecretFields {
  const maskOf = (slot: ProjectSecretKey['slot']) => keys.find((key) => key.slot === slot)?.mask_value ?? null;
  return { secret_api_token: maskOf('primary'), secret_api_token_backup: maskOf('backup') };
}
