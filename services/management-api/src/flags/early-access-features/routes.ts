import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { hasRecordLevel, type RecordRights, toRecordName } from '../../access/record-rights.ts';
import type { FlagDeps } from '../feature-flags/payloads.ts';
import { toMinimalFlag } from '../feature-flags/show.ts';
import type { FlagRow } from '../feature-flags/store.ts';
import {
  earlyAccessFeature,
  featureChanges,
  featureExample,
  newFeature,
  newFeatureExample,
  replacedFeature,
} from './schema.ts';
import { type FeatureRow, findFeatureFlags, listFeatures } from './store.ts';
import { changeFeature, createFeature, type FeatureWriter, removeFeature, requireFeature } from './write.ts';

const path = '/early_access_feature';
const tags: [string] = ['early access features'];
const params = Type.Object({
  id: Type.String({ format: 'uuid', description: 'ID of the early access feature.' }),
});

/** Declares the routes of early access features, which users can turn on for themselves before the general release. */
export function earlyAccessFeatureRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const below = environmentBasePaths(sql);
  const writerOf = (
    { userId, scopes }: Caller,
    { environmentId, organizationId, rights }: AddressedProject,
  ): FeatureWriter => ({ userId, scopes, environmentId, organizationId, rights, secrets });

  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path,
      operationId: 'early_access_feature_list',
      summary: 'List early access features',
      description: 'Returns the early access features of the project, newest first.',
      tags,
      scope: 'early_access_feature:read',
      query: Type.Object(offsetQuery),
      responses: {
        200: { description: 'One page of early access features.', schema: offsetPageSchema(earlyAccessFeature) },
      },
      examples: { response: { count: 1, next: null, previous: null, results: [featureExample] } },
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listFeatures(sql, target, window);
          const flags = await findFeatureFlags(sql, target.environmentId, rows);
          return { count, results: rows.map((row) => toFeature(row, flags.get(row.feature_flag_id), target.rights)) };
        }),
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path,
      operationId: 'early_access_feature_create',
      summary: 'Create an early access feature',
      description:
        'Creates an early access feature for an existing flag or for a new flag. A new flag is on only for users who enroll. Also requires the scope `feature_flag:write` if a flag is created or changed.',
      tags,
      scope: 'early_access_feature:write',
      body: newFeature,
      responses: { 201: { description: 'The new early access feature.', schema: earlyAccessFeature } },
      examples: { request: newFeatureExample, response: featureExample },
      handler: async ({ caller, target: place, body }) => {
        const { feature, flag } = await transaction((tx) => createFeature(tx, writerOf(caller, place), body));
        return toFeature(feature, flag, place.rights);
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/:id`,
      operationId: 'early_access_feature_retrieve',
      summary: 'Show an early access feature',
      description: 'Returns one early access feature with its flag.',
      tags,
      scope: 'early_access_feature:read',
      params,
      responses: { 200: { description: 'The early access feature.', schema: earlyAccessFeature } },
      examples: { response: featureExample },
      handler: async ({ target, params: { id } }) => {
        const row = await requireFeature(sql, target, { id, needed: 'viewer' });
        return toFeature(
          row,
          (await findFeatureFlags(sql, target.environmentId, [row])).get(row.feature_flag_id),
          target.rights,
        );
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${path}/:id`,
        operationId: `early_access_feature_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace an early access feature' : 'Change an early access feature',
        description:
          'Changes the fields that are sent and leaves all others unchanged. The stage determines whether users can enroll, ' +
          'and the flag is updated to match. Also requires the scope `feature_flag:write` if the flag changes.',
        tags,
        scope: 'early_access_feature:write',
        params,
        body: method === 'PUT' ? replacedFeature : featureChanges,
        responses: { 200: { description: 'The updated early access feature.', schema: earlyAccessFeature } },
        examples: {
          request: method === 'PUT' ? newFeatureExample : { stage: 'archived' },
          response: method === 'PUT' ? featureExample : { ...featureExample, stage: 'archived' },
        },
        handler: async ({ caller, target: place, params: { id }, body: changes }) => {
          const written = await transaction((tx) => changeFeature(tx, writerOf(caller, place), { id, changes }));
          return toFeature(written.feature, written.flag, place.rights);
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${path}/:id`,
      operationId: 'early_access_feature_destroy',
      summary: 'Delete an early access feature',
      description:
        "Deletes the feature permanently. Its flag is not deleted, but users' choices no longer have an effect. Also requires the scope `feature_flag:write` if the flag changes.",
      tags,
      scope: 'early_access_feature:write',
      params,
      responses: { 204: { description: 'The early access feature was deleted.' } },
      handler: async ({ caller, target: place, params: { id } }) => {
        await transaction((tx) => removeFeature(tx, writerOf(caller, place), id));
        return undefined;
      },
    }),
  ];
}

/**
 * Converts a feature to an API response. Callers without access to the flag see only its key, which SDKs receive too.
 */
function toFeature(row: FeatureRow, flag: FlagRow | undefined, rights: RecordRights) {
  if (flag === undefined) throw new AppError('not_found', 'Not found.');
  const shown = toMinimalFlag(flag);
  const isSeen = hasRecordLevel(rights, 'feature_flag', 'viewer', toRecordName(flag));
  return {
    ...row,
    feature_flag: isSeen ? shown : { ...shown, name: '', filters: {} },
    created_at: formatDateTime(row.created_at),
  };
}
