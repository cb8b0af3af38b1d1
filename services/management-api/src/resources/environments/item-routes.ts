import { resetToken } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { type TObject, type TSchema, Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../activity/activity-page.ts';
import { requireAccessControlLevel } from './access-control-level.ts';
import { checkDemoChange } from './check-demo-change.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';
import { upsertProductIntent } from './product-intent-store.ts';
import { secretKeyRoutes } from './secret-key-routes.ts';
import { showItem } from './show-item.ts';

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
  const { sql, transaction, announceKeyChange } = deps;
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
        examples: { request: { timezone: 'Europe/Lisbon' }, response: { ...example, timezone: 'Europe/Lisbon' } },
        target,
        handler: async ({ caller, target: found, body: sent }) => {
          const token = await transaction((tx) => change(tx, { caller, target: found, sent }));
          announceKeyChange([token]);
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
        announceKeyChange(await family.remove({ caller, target: found }));
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
        announceKeyChange([
          await transaction((tx) => resetToken(tx, { environmentId: found.environmentId, actor: caller })),
        ]);
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
          schema: Type.Object({ is_generating_demo_data: Type.Boolean({ description: 'Whether it is.' }) }),
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
      body: Type.Object<Record<string, TSchema>>({ ...intent, ...changes.properties }),
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
        const token = await transaction(async (tx) => {
          const changed = hasSettings ? await change(tx, { caller, target: found, sent }) : null;
          if (productType !== undefined) {
            const wish = { productType: String(productType), context: String(context) };
            await upsertProductIntent(tx, found.environmentId, wish);
          }
          return changed;
        });
        if (token !== null) announceKeyChange([token]);
        return show(caller, found);
      },
    }),
  ];
}
