import { findRemoteConfig, loadDefinitions, localEvaluationDocument } from '@millrace/flags/store';
import { freeFormObject } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireRecord } from '../../access/record-rights.ts';
import type { FlagDeps } from './payloads.ts';
import { flagsPath, flagTags as tags } from './schema.ts';

const document = Type.Object(
  {
    flags: Type.Array(freeFormObject({ description: 'A flag, what it depends on by keys.' }), {
      description:
        'Flags that are not deleted, by key; inactive ones included, those with encrypted payloads left out.',
    }),
    group_type_mapping: freeFormObject({ description: 'Names of group types by index.' }),
    cohorts: freeFormObject({ description: 'The dynamic cohorts that flags ask about, by id.' }),
    minimal_flag_called_events: Type.Boolean({ description: 'Whether SDKs send short events of calls.' }),
    property_matching_version: Type.Integer({ description: 'How texts such as "true" are compared.' }),
  },
  { title: 'FeatureFlagDefinitions' },
);

/**
 * What programs read instead of asking: the definitions, and payloads of remote configuration. SDKs ask the ingest host for
 * them, which remembers them and takes secret keys; here they are for scripts, by a personal key.
 */
export function flagDefinitionRoutes({ sql, payloadSecrets }: FlagDeps) {
  const common = { method: 'GET', tags, scope: 'feature_flag:read', below: belowEnvironment(sql) } as const;
  return [
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/local_evaluation`,
      operationId: 'feature_flags_local_evaluation',
      summary: 'Show the definitions for evaluating feature flags locally',
      description: 'The document that SDKs which evaluate by themselves get from the ingest host.',
      responses: { 200: { description: 'The definitions.', schema: document } },
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
        return localEvaluationDocument(definitions);
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/remote_config`,
      operationId: 'feature_flags_remote_config',
      summary: "Show a remote configuration's payload",
      description:
        'Its payload as JSON text, decrypted; null without one. Conditions, and whether it is active, do not matter.',
      params: Type.Object({
        id: Type.String({
          description:
            'The key of the flag, or its number. A flag with this key goes before the flag with this number.',
        }),
      }),
      responses: {
        200: { description: 'The payload.', schema: Type.Union([Type.String(), Type.Null()]) },
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
