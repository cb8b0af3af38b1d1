import { buildLocalEvaluationDocument, findRemoteConfig, loadDefinitions } from '@millrace/flags/store';
import { freeFormObject } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { requireRecord } from '../../../access/record-rights.ts';
import type { FlagDeps } from '../payloads.ts';
import { flagsPath, flagTags as tags } from '../schema.ts';

const document = Type.Object(
  {
    flags: Type.Array(freeFormObject({ description: 'A flag. Flags that it depends on are referenced by key.' }), {
      description:
        'All flags that are not deleted, including inactive ones, ordered by key. Flags with encrypted payloads are left out.',
    }),
    group_type_mapping: freeFormObject({ description: 'Maps the index of each group type to its name.' }),
    cohorts: freeFormObject({
      description: 'Maps cohort IDs to the definitions of the dynamic cohorts that the flags use.',
    }),
    minimal_flag_called_events: Type.Boolean({
      description: 'Whether SDKs send a shortened `$feature_flag_called` event. Always false.',
    }),
    property_matching_version: Type.Integer({
      description: 'Version of the rules for comparing booleans with strings such as "true": 1 or 2.',
    }),
  },
  { title: 'FeatureFlagDefinitions' },
);

/**
 * Declares the routes that return definitions for local evaluation, and payloads of remote configurations. They are for
 * scripts with a personal API key. SDKs request the same data from the ingest host, which caches it and accepts secret
 * keys.
 */
export function flagDefinitionRoutes({ sql, payloadSecrets }: FlagDeps) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', below: environmentBasePaths(sql) } as const;
  return [
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/local_evaluation`,
      operationId: 'feature_flags_local_evaluation',
      summary: 'Show feature flag definitions for local evaluation',
      description: 'Returns the document that SDKs fetch from the ingest host to evaluate flags locally.',
      responses: { 200: { description: 'The flag definitions.', schema: document } },
      examples: {
        response: {
          flags: [{ id: 1, key: 'new-home-page', active: true, filters: { groups: [{ rollout_percentage: 100 }] } }],
          group_type_mapping: { '0': 'company' },
          cohorts: {},
          minimal_flag_called_events: false,
          property_matching_version: 1,
        },
      },
      handler: async ({ target: { environmentId } }) => {
        const definitions = await loadDefinitions(sql, environmentId);
        if (definitions === null) throw notFound();
        return buildLocalEvaluationDocument(definitions);
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/remote_config`,
      operationId: 'feature_flags_remote_config',
      summary: 'Show the payload of a remote configuration',
      description:
        'Returns the decrypted payload as a JSON string, or null if the flag has no payload. The payload is returned even if the flag is ' +
        'inactive, and regardless of its release conditions.',
      params: Type.Object({
        id: Type.String({
          description: 'Key or ID of the flag. If one flag has this key and another one has this ID, the key wins.',
        }),
      }),
      responses: {
        200: { description: 'The payload, or null.', schema: Type.Union([Type.String(), Type.Null()]) },
      },
      examples: { response: '{"theme":"dark"}' },
      handler: async ({ target: { environmentId, rights }, params: { id } }) => {
        const found = await findRemoteConfig(sql, environmentId, id);
        if (found === null) throw notFound();
        requireRecord(rights, 'feature_flag', 'viewer', found);
        return found.payload === null
          ? null
          : (payloadSecrets.open({ true: found.payload }, environmentId).true ?? null);
      },
    }),
  ];
}

function notFound(): AppError {
  return new AppError('not_found', 'Not found.');
}
