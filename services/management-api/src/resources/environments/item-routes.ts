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
import { type TObject, type TSchema, Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../activity/activity-page.ts';
import { type ItemDeps, type ItemFamily, showItem } from './item.ts';
import { checkDemoChange, requireAccessControlLevel } from './rules.ts';
import type { SecretFields } from './schema.ts';
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
 * under which it is addressed (docs/api-rules.md#projects, docs/api-rules.md#environments).
 */
export function itemRoutes<P extends TObject>(deps: ItemDeps, family: ItemFamily<P>) {
  const { sql, transaction } = deps;
  const { kind, path, prefix, params, target, schema, example, changes } = family;
  const tags: [string] = [`${kind}s`];
  const shown = { description: `The ${kind}.`, schema };

  const show = (caller: Caller, found: AddressedProject) => showItem(deps, family, { caller, target: found });

  const change: typeof family.change = async (tx, context) => {
    await checkDemoChange(tx, context.caller, context);
    requireAccessControlLevel(context.caller, context.target.organizationId, context.sent);
    return family.change(tx, context);
  };

  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: `${prefix}_retrieve`,
      summary: `Show ${kind === 'project' ? 'a project' : 'an environment'}`,
      description: `The ${kind} with all its settings.`,
      tags,
      scope: 'project:read',
      params,
      responses: { 200: shown },
      examples: { response: example },
      target,
      handler: ({ caller, target: found }) => show(caller, found),
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        method,
        path,
        operationId: `${prefix}_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: `${method === 'PUT' ? 'Write' : 'Change'} settings of ${kind === 'project' ? 'a project' : 'an environment'}`,
        description: 'Changes the fields that are sent; null clears one that may be null. Unknown fields are ignored.',
        tags,
        scope: 'project:write',
        params,
        body: changes,
        responses: { 200: shown },
        examples: { request: { timezone: 'Europe/Lisbon' }, response: example },
        target,
        handler: async ({ caller, target: found, body: sent }) => {
          await transaction((tx) => change(tx, { caller, target: found, sent }));
          return show(caller, found);
        },
      }),
    ),
    defineRoute({
      method: 'DELETE',
      path,
      operationId: `${prefix}_destroy`,
      summary: `Remove ${kind === 'project' ? 'a project' : 'an environment'}`,
      description: `Removes the ${kind} and its key at once; stored events follow in the background.`,
      tags,
      scope: 'project:write',
      level: membershipLevels.administrator,
      params,
      responses: { 204: { description: 'Removed.' } },
      target,
      handler: async ({ caller, target: found }) => {
        await family.remove({ caller, target: found });
        return undefined;
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${path}/reset_token`,
      operationId: `${prefix}_reset_token`,
      summary: 'Replace the project API key',
      description: 'Gives out a new project API key. Events sent with the old one are refused from then on.',
      tags,
      scope: 'project:write',
      level: membershipLevels.administrator,
      params,
      responses: { 200: shown },
      examples: { response: example },
      target,
      handler: async ({ caller, target: found }) => {
        await transaction((tx) => resetToken(tx, { environmentId: found.environmentId, actor: caller }));
        return show(caller, found);
      },
    }),
    ...secretKeyRoutes(deps, family),
    defineRoute({
      method: 'GET',
      path: `${path}/is_generating_demo_data`,
      operationId: `${prefix}_is_generating_demo_data`,
      summary: 'Ask whether demo data is being made',
      description: 'Always false: this server makes none.',
      tags,
      scope: 'project:read',
      params,
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
      target,
      handler: async () => ({ is_generating_demo_data: false }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/activity`,
      operationId: `${prefix}_activity`,
      summary: 'Show who changed what',
      description: 'What was done to it, the latest first. Values of secrets are not kept.',
      tags,
      scope: 'project:read',
      params,
      query: activityQuery,
      responses: {
        200: {
          description: 'One page of records.',
          schema: activityPage,
          ...(family.isActivityOnlyIfPreferred && { onlyIfPreferred: true as const }),
        },
      },
      examples: { response: activityExample },
      target,
      handler: ({ target: { environmentId }, query, request }) =>
        readActivity(sql, request, { ...query, scopes: family.activityScopes, itemId: String(environmentId) }),
    }),
    defineRoute({
      method: 'PATCH',
      path: `${path}/add_product_intent`,
      operationId: `${prefix}_add_product_intent`,
      summary: 'Note interest in a product',
      description:
        'Notes that somebody wants to use a product; again with the same product counts once more. Settings that are sent along are changed as well.',
      tags,
      scope: 'project:write',
      params,
      body: Type.Object<Record<string, TSchema>>(
        { ...intent, ...changes.properties },
        { title: kind === 'project' ? 'ProjectIntent' : 'EnvironmentIntent' },
      ),
      responses: { 201: shown },
      examples: { request: { product_type: 'surveys', intent_context: 'onboarding' }, response: example },
      target,
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
 * Secret keys (`phs_…`), with which servers read flag definitions (docs/api-rules.md#secret-keys): made and rolled, and the
 * former one taken away. The rules are those of the command line (packages/accounts).
 */
function secretKeyRoutes<P extends TObject>(deps: ItemDeps, family: ItemFamily<P>) {
  const { kind, path, prefix, params, target, schemaWithSecretKeys, example } = family;
  const common = {
    method: 'PATCH',
    tags: [`${kind}s`] as [string],
    scope: 'project:write',
    level: 8,
    params,
    responses: { 200: { description: `The ${kind}, with its secret keys.`, schema: schemaWithSecretKeys } },
    target,
  } as const;

  return [
    defineRoute({
      ...common,
      path: `${path}/rotate_secret_token`,
      operationId: `${prefix}_rotate_secret_token`,
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
        const shown = await showItem(deps, family, { caller, target: found });
        return { ...shown, ...toSecretFields(keys), secret_api_token: value };
      },
    }),
    defineRoute({
      ...common,
      path: `${path}/delete_secret_token_backup`,
      operationId: `${prefix}_delete_secret_token_backup`,
      summary: 'Remove the former secret key',
      description: 'The former secret key stops working. Without one nothing happens.',
      examples: { response: { ...example, secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async ({ caller, target: found }) => {
        const { environmentId } = found;
        await deps.transaction((tx) =>
          revokeProjectSecretKeys(tx, { environmentId, slots: ['backup'], actor: caller }),
        );
        const shown = await showItem(deps, family, { caller, target: found });
        return { ...shown, ...toSecretFields(await listProjectSecretKeys(deps.sql, environmentId)) };
      },
    }),
  ];
}

function toSecretFields(keys: readonly ProjectSecretKey[]): SecretFields {
  const maskOf = (slot: ProjectSecretKey['slot']) => keys.find((key) => key.slot === slot)?.mask_value ?? null;
  return { secret_api_token: maskOf('primary'), secret_api_token_backup: maskOf('backup') };
}
