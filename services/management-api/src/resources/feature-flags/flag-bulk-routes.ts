import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { deleteFlags, maxDeletedTogether } from './delete-flags.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagsPath, flagTags as tags } from './flag-params.ts';
import { findFlagKeys, listFlagIds } from './flag-store.ts';
import { flagConditions, flagFilters } from './list-flags-query.ts';
import { parseFlagSelection } from './parse-flag-selection.ts';

const largestId = 2_147_483_647;
const mostMatching = 20_000;

const ids = Type.Array(Type.Unknown(), { maxItems: 10_000, description: 'Numbers of flags.' });
const flagIds = Type.Object({ ids });
const keysById = Type.Object({
  keys: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Key of each flag that there is, by its number.',
  }),
  warning: Type.Optional(Type.String({ description: 'Which of the ids are none.' })),
});
const matching = Type.Object({
  ids: Type.Array(Type.Integer(), { description: 'Numbers of the flags that the filters find.' }),
  total: Type.Integer({ description: 'How many they are.' }),
});
const selection = Type.Object({
  ids: Type.Optional(ids),
  filters: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Instead of `ids`: filters as those of the list.',
    }),
  ),
});
const flagName = { id: Type.Unknown({ description: 'Number of the flag.' }) };
const deletion = Type.Object({
  deleted: Type.Array(Type.Object({ id: Type.Integer(), key: Type.String() }), {
    description: 'Flags that are gone now.',
  }),
  errors: Type.Array(Type.Object({ ...flagName, key: Type.Optional(Type.String()), reason: Type.String() }), {
    description: 'Flags that stay, and why.',
  }),
});

/** Many flags at once. */
export function flagBulkRoutes({ sql, transaction }: Pick<FlagDeps, 'sql' | 'transaction'>) {
  const target = addressedProject(sql);
  return [
    defineRoute({
      method: 'POST',
      path: `${flagsPath}/bulk_keys`,
      operationId: 'feature_flags_bulk_keys',
      summary: 'Show the keys of feature flags',
      description: 'Keys of flags by their numbers, deleted ones too. Unknown numbers are left out.',
      tags,
      scope: 'feature_flag:read',
      params: projectParams,
      body: flagIds,
      responses: { 200: { description: 'The keys.', schema: keysById } },
      examples: { request: { ids: [1, 2] }, response: { keys: { 1: 'new-checkout' } } },
      target,
      handler: async ({ target: { environmentId }, body }) => {
        const known = body.ids.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= largestId);
        const odd = body.ids.length - known.length;
        if (body.ids.length > 0 && known.length === 0) {
          throw new AppError('invalid', 'Invalid flag IDs provided', { code: 'invalid_input', attr: 'ids' });
        }
        const keys = Object.fromEntries(await findFlagKeys(sql, environmentId, known));
        return odd === 0 ? { keys } : { keys, warning: `${odd} of the ids are no numbers of flags and were ignored.` };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${flagsPath}/matching_ids`,
      operationId: 'feature_flags_matching_ids',
      summary: 'List the numbers of feature flags',
      description: `Numbers of all flags that the filters of the list find, at most ${mostMatching}.`,
      tags,
      scope: 'feature_flag:read',
      params: projectParams,
      query: Type.Object(flagFilters),
      responses: { 200: { description: 'The numbers.', schema: matching } },
      examples: { response: { ids: [1], total: 1 } },
      target,
      handler: async ({ target: { environmentId }, query }) => {
        const found = await listFlagIds(sql, flagConditions(environmentId, query), mostMatching);
        return { ids: found, total: found.length };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${flagsPath}/bulk_delete`,
      operationId: 'feature_flags_bulk_delete',
      summary: 'Delete feature flags',
      description: `Deletes the flags with these \`ids\`, or those that \`filters\` find, at most ${maxDeletedTogether} at once. A flag that others depend on stays, unless they are deleted with it.`,
      tags,
      scope: 'feature_flag:write',
      params: projectParams,
      body: selection,
      responses: { 200: { description: 'What became of each.', schema: deletion } },
      examples: { request: { ids: [1] }, response: { deleted: [{ id: 1, key: 'new-checkout' }], errors: [] } },
      target,
      handler: async ({ caller: { userId }, target: { environmentId, organizationId }, body }) => {
        const selected = parseFlagSelection(body);
        return transaction(async (tx) => {
          const chosen =
            'ids' in selected
              ? selected.ids
              : await listFlagIds(tx, flagConditions(environmentId, selected.filters), maxDeletedTogether);
          return deleteFlags(tx, { userId, organizationId, environmentId }, chosen);
        });
      },
    }),
  ];
}
