import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from './flag-params.ts';
import { featureFlag, featureFlagExample, flagChanges, newFlag, newFlagExample } from './flag-schema.ts';
import { showFlag } from './show-flags.ts';
import { changeFlag, createFlag, type FlagWriter } from './write-flag.ts';

/** Making, changing and deleting flags. */
export function flagWriteRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const common = { tags, scope: 'feature_flag:write', target: addressedProject(sql) } as const;
  const writerOf = ({ userId }: Caller, { environmentId, organizationId }: AddressedProject): FlagWriter => ({
    userId,
    environmentId,
    organizationId,
    secrets,
  });
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: flagsPath,
      operationId: 'feature_flags_create',
      summary: 'Create a feature flag',
      description: 'Makes a flag. Without `filters` everybody gets it. SDKs see it within a second.',
      params: projectParams,
      body: newFlag,
      responses: { 201: { description: 'The new flag.', schema: featureFlag } },
      examples: { request: newFlagExample, response: featureFlagExample },
      handler: async ({ caller, target, body }) => {
        const row = await transaction((tx) => createFlag(tx, writerOf(caller, target), body));
        return showFlag(sql, row, secrets);
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        ...common,
        method,
        path: `${flagsPath}/:id`,
        operationId: `feature_flags_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a feature flag' : 'Change, delete or restore a feature flag',
        description:
          'What is not sent stays as it is, single keys of `filters` too. `deleted: true` is the only way to remove a flag, `false` brings it back. With `version` and `original_flag`, a field that others changed meanwhile is not overwritten (409). Another `key` gives everybody another bucket.',
        params: flagParams,
        body: method === 'PUT' ? newFlag : flagChanges,
        responses: {
          200: { description: 'The flag as it is now.', schema: featureFlag },
          409: { description: 'Somebody else has changed the same meanwhile.' },
        },
        examples: {
          request: method === 'PUT' ? newFlagExample : { active: false },
          response: method === 'PUT' ? featureFlagExample : { ...featureFlagExample, active: false, version: 2 },
        },
        handler: async ({ caller, target, params: { id }, body }) => {
          const row = await transaction((tx) => changeFlag(tx, writerOf(caller, target), { id, changes: body }));
          return showFlag(sql, row, secrets);
        },
      }),
    ),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: `${flagsPath}/:id`,
      operationId: 'feature_flags_destroy',
      summary: 'Refuse to remove a feature flag',
      description: 'A flag is never removed: PATCH it with `{"deleted": true}` instead.',
      params: Type.Object({ ...projectParams.properties, id: Type.String({ description: 'Not looked at.' }) }),
      responses: { 405: { description: 'Always, without a body.' } },
      handler: async () => undefined,
    }),
  ];
}
