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
import { activityExample, activityPage, activityQuery, readActivity } from '../activity/activity-page.ts';
import { type ItemDeps, type ItemKind, showItem } from './item.ts';
import { checkDemoChange, checkPrimaryDashboard, checkTestAccountFilters, requireAccessControlLevel } from './rules.ts';
import { refusedSettings, type SecretFields, secretKeyMasks } from './schema.ts';
import { upsertProductIntent } from './store.ts';

const intent = {
  product_type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The product, e.g. `surveys`. Needed unless a setting is sent.',
    }),
  ),
  intent_context: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Where the wish came up; `unknown` by default.' }),
  ),
  metadata: Type.Optional(Type.Unknown({ description: 'Taken and not kept.' })),
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
      description: `The ${kind} with all its settings.`,
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
        summary: `${method === 'PUT' ? 'Write' : 'Change'} settings of ${kind === 'project' ? 'a project' : 'an environment'}`,
        description: 'Changes the fields that are sent; null clears one that may be null. Unknown fields are ignored.',
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
      summary: `Remove ${kind === 'project' ? 'a project' : 'an environment'}`,
      description: `Removes the ${kind} and its key at once; stored events follow in the background.`,
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 204: { description: 'Removed.' } },
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
      description: 'Gives out a new project API key. Events sent with the old one are refused from then on.',
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
      summary: 'Ask whether demo data is being made',
      description: 'Always false: this server makes none.',
      tags,
      scope: 'project:read',
      responses: {
        200: {
          description: 'The answer.',
          schema: Type.Object(
            { is_generating_demo_data: Type.Boolean({ description: 'Whether it is.' }) },
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
      summary: 'Show who changed what',
      description: 'What was done to it, the latest first. Values of secrets are not kept.',
      tags,
      scope: 'project:read',
      query: activityQuery,
      responses: {
        200: {
          description: 'One page of records.',
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
      summary: 'Note interest in a product',
      description:
        'Notes that somebody wants to use a product; again with the same product counts once more. Settings that are sent along are changed as well.',
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
    responses: { 200: { description: `The ${kind}, with its secret keys.`, schema: schemaWithSecretKeys } },
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
      summary: 'Show which secret keys there are',
      description: 'Masks of the secret keys. A key itself is shown once, in the answer that makes it.',
      responses: { 200: { description: 'The masks.', schema: secretKeyMasks } },
      examples: { response: { secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async ({ target: { environmentId } }) =>
        toSecretFields(await listProjectSecretKeys(deps.sql, environmentId)),
    }),
    ...defineRoutes({
      ...common,
      path: '/rotate_secret_token',
      operationId: 'rotate_secret_token',
      summary: 'Make or replace the secret key',
      description:
        'Gives out a new secret key, shown once. The former one stays valid as the backup; an older backup stops working.',
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
      summary: 'Remove the former secret key',
      description: 'The former secret key stops working. Without one nothing happens.',
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
