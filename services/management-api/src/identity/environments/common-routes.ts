// Declares the routes that projects and environments share, for single records by ID.

import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import type { SqlParser } from '@millrace/insights';
import { type TObject, type TSchema, Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type BasePath, defineRoutes } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { demoDataStatus, intent, recordProductIntent } from './compatibility.ts';
import { keyRoutes, type RecordDescription } from './key-routes.ts';
import { checkReferencedRecords, parseSettingsAhead } from './rules.ts';
import { refusedSettings } from './schema.ts';
import type { AddressedRecord, RecordDeps, ShowRecord } from './show.ts';

export interface RecordKind extends RecordDescription {
  aNoun: 'a project' | 'an environment';
  changes: TObject;
  activity: { scopes: readonly string[]; onlyIfPreferred?: true };
  /** Saves the changes. Their references to other records have already been checked. */
  change: (tx: Transaction, record: AddressedRecord, changes: Record<string, unknown>) => Promise<unknown>;
  remove: (tx: Transaction, record: AddressedRecord) => Promise<unknown>;
}

/** Creates the routes for single projects or environments by ID (docs/api/README.md#routes-and-fields). */
export function commonRoutes(
  deps: RecordDeps & { parser: SqlParser },
  kind: RecordKind,
  { below, show }: { below: BasePath<AddressedProject>[]; show: ShowRecord },
) {
  const { transaction } = deps;
  const { tags, noun, aNoun, schema, example } = kind;
  const shown = { description: `The ${noun}.`, schema };
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: '',
      operationId: 'retrieve',
      summary: `Show ${aNoun}`,
      description: `Returns the ${noun} with all of its settings.`,
      tags,
      scope: 'project:read',
      responses: { 200: shown },
      examples: { response: example },
      handler: show,
    }),
    ...changeRoutes(deps, kind, { below, show }),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: '',
      operationId: 'destroy',
      summary: `Delete ${aNoun}`,
      description: `Deletes the ${noun} and its API key immediately. Stored events are deleted in the background.`,
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 204: { description: 'Deleted.' } },
      handler: async (context) => {
        await transaction((tx) => kind.remove(tx, context));
        return undefined;
      },
    }),
    ...keyRoutes(deps, kind, { below, show }),
    ...defineRoutes({ ...demoDataStatus, below, tags }),
    ...activityRoutes(deps, kind, below),
  ];
}

/** Creates the routes that change settings. Product intents are included, because they can contain settings. */
function changeRoutes(
  { transaction, parser }: RecordDeps & { parser: SqlParser },
  { tags, noun, aNoun, title, schema, example, changes, change }: RecordKind,
  { below, show }: { below: BasePath<AddressedProject>[]; show: ShowRecord },
) {
  const shown = { description: `The ${noun}.`, schema };
  const changeSettings = async (tx: Transaction, record: AddressedRecord, settings: Record<string, unknown>) => {
    await checkReferencedRecords({ tx, parser }, record, settings);
    await change(tx, record, settings);
  };
  return [
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: '',
        operationId: method === 'PUT' ? 'update' : 'partial_update',
        summary: `${method === 'PUT' ? 'Replace' : 'Change'} ${aNoun}'s settings`,
        description:
          'Changes the fields that are sent. Null resets fields that can be null. Unknown fields are ignored.',
        tags,
        scope: 'project:write',
        body: changes,
        refusedBody: refusedSettings,
        responses: { 200: shown },
        examples: { request: { timezone: 'Europe/Lisbon' }, response: example },
        handler: async (context) => {
          await parseSettingsAhead(parser, context.body);
          await transaction((tx) => changeSettings(tx, context, context.body));
          return show(context);
        },
      }),
    ),
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
      body: Type.Object<Record<string, TSchema>>({ ...intent, ...changes.properties }, { title: `${title}Intent` }),
      refusedBody: refusedSettings,
      responses: { 201: shown },
      examples: { request: { product_type: 'surveys', intent_context: 'onboarding' }, response: example },
      handler: async (context) => {
        await parseSettingsAhead(parser, context.body);
        await transaction((tx) =>
          recordProductIntent(tx, context, (settings) => changeSettings(tx, context, settings)),
        );
        return show(context);
      },
    }),
  ];
}

function activityRoutes(
  { sql }: Pick<RecordDeps, 'sql'>,
  { tags, noun, aNoun, activity: { scopes, ...preference } }: RecordKind,
  below: BasePath<AddressedProject>[],
) {
  return defineRoutes({
    method: 'GET',
    below,
    path: '/activity',
    operationId: 'activity',
    summary: `Show ${aNoun}'s activity log`,
    description: `Returns the changes made to the ${noun}, most recent first. Secret values are not recorded.`,
    tags,
    scope: 'project:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of log entries.', schema: activityPage, ...preference } },
    examples: { response: activityExample },
    handler: ({ target: { environmentId }, query, request }) =>
      readActivity(sql, request, { ...query, scopes: [...scopes], itemId: String(environmentId) }),
  });
}
