// Declares the bulk routes for feature flags, which list keys, select flags by filters, and delete flags.

import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import type { AddressedProject } from '../../../access/addressed-store.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { createVisibilityCheck, hasRecordLevel, toRecordName } from '../../../access/record-rights.ts';
import { lockEnvironment } from '../../../sql/lock-environment.ts';
import { type FlagFilterValues, flagConditions, flagFilters } from '../list-query.ts';
import type { FlagDeps } from '../payloads.ts';
import { flagsPath, flagTags as tags } from '../schema.ts';
import { type FlagRow, findFlagKeys, findFlags, listFlagIds, markFlagsDeleted } from '../store.ts';
import { type FlagAuthor, recordFlagActivity } from './activity.ts';
import { type DependentFlag, findDependentFlags, findFlagsWithFeatures } from './reference-store.ts';

const largestId = 2_147_483_647;
const maxMatching = 20_000;

const ids = Type.Array(Type.Unknown(), { maxItems: 10_000, description: 'IDs of feature flags.' });
const flagIds = Type.Object({ ids }, { title: 'FeatureFlagIds' });
const keysById = Type.Object(
  {
    keys: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Maps the ID of each flag that exists to its key.',
    }),
    warning: Type.Optional(Type.String({ description: 'Set if some of the IDs were invalid and have been ignored.' })),
  },
  { title: 'FeatureFlagKeys' },
);
const matching = Type.Object(
  {
    ids: Type.Array(Type.Integer(), { description: 'IDs of the flags that match the filters.' }),
    total: Type.Integer({ description: 'Number of IDs in this response.' }),
  },
  { title: 'MatchingFeatureFlags' },
);
const selection = Type.Object(
  {
    ids: Type.Optional(ids),
    filters: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description:
          'Filters that select the flags, as an alternative to `ids`. They match the query parameters of the list route.',
      }),
    ),
  },
  { title: 'FeatureFlagSelection' },
);
const flagName = { id: Type.Unknown({ description: 'ID of the flag.' }) };
const deletion = Type.Object(
  {
    deleted: Type.Array(Type.Object({ id: Type.Integer(), key: Type.String() }), {
      description: 'Flags that were deleted.',
    }),
    errors: Type.Array(Type.Object({ ...flagName, key: Type.Optional(Type.String()), reason: Type.String() }), {
      description: 'Flags that were not deleted, with the reason.',
    }),
  },
  { title: 'FeatureFlagDeletion' },
);

export function flagBulkRoutes({ sql, transaction }: Pick<FlagDeps, 'sql' | 'transaction'>) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${flagsPath}/bulk_keys`,
      operationId: 'feature_flags_bulk_keys',
      summary: 'Show the keys of feature flags',
      description: 'Returns the keys of the flags with these IDs, including deleted flags. Unknown IDs are left out.',
      tags,
      scope: 'feature_flag:read',
      body: flagIds,
      responses: { 200: { description: 'The keys of the flags.', schema: keysById } },
      examples: { request: { ids: [1, 2] }, response: { keys: { 1: 'new-checkout' } } },
      handler: async ({ target: { environmentId, rights }, body }) => {
        const known = body.ids.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= largestId);
        const odd = body.ids.length - known.length;
        if (body.ids.length > 0 && known.length === 0) {
          throw new AppError('invalid', 'Invalid flag IDs provided', { code: 'invalid_input', attr: 'ids' });
        }
        const found = [...(await findFlagKeys(sql, environmentId, known))];
        const isSeen = await createVisibilityCheck(sql, rights, { environmentId, kind: 'feature_flag' });
        const keys = Object.fromEntries(found.filter(([id]) => isSeen({ id })));
        return odd === 0 ? { keys } : { keys, warning: `${odd} of the IDs are not valid flag IDs and were ignored.` };
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${flagsPath}/matching_ids`,
      operationId: 'feature_flags_matching_ids',
      summary: 'List the IDs of feature flags',
      description: `Returns the IDs of all flags that match the list filters, at most ${maxMatching}.`,
      tags,
      scope: 'feature_flag:read',
      query: Type.Object(flagFilters),
      responses: { 200: { description: 'The IDs of the matching flags.', schema: matching } },
      examples: { response: { ids: [1], total: 1 } },
      handler: async ({ target, query }) => {
        const found = await listFlagIds(sql, flagConditions(target, query), maxMatching);
        return { ids: found, total: found.length };
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${flagsPath}/bulk_delete`,
      operationId: 'feature_flags_bulk_delete',
      summary: 'Delete feature flags',
      description:
        `Deletes the flags with these \`ids\`, or the flags that match \`filters\`, at most ${maxDeletedTogether} per request. A flag ` +
        'that other flags depend on is not deleted, unless the same request deletes those flags as well.',
      tags,
      scope: 'feature_flag:write',
      body: selection,
      responses: { 200: { description: 'The result for each flag.', schema: deletion } },
      examples: { request: { ids: [1] }, response: { deleted: [{ id: 1, key: 'new-checkout' }], errors: [] } },
      handler: async ({ caller: { userId }, target, body }) => {
        const selected = parseFlagSelection(body);
        return transaction(async (tx) => {
          const chosen =
            'ids' in selected
              ? selected.ids
              : await listFlagIds(tx, flagConditions(target, selected.filters), maxDeletedTogether);
          return deleteFlags(tx, { ...target, userId }, chosen);
        });
      },
    }),
  ];
}

/**
 * Reads which flags a request selects: by IDs, or by the same filters as the list of flags.
 * @throws AppError `invalid`
 */
function parseFlagSelection(body: {
  ids?: unknown[];
  filters?: Record<string, unknown>;
}): { ids: unknown[] } | { filters: FlagFilterValues } {
  const { ids, filters } = body;
  if ((ids === undefined) === (filters === undefined))
    throw refusal('Provide either `ids` or `filters`, but not both.', null);
  if (filters === undefined) {
    if (ids === undefined || ids.length === 0) throw refusal('No flag IDs provided', 'ids');
    if (ids.length > maxDeletedTogether)
      throw refusal(`\`ids\` must not contain more than ${maxDeletedTogether} IDs.`, 'ids');
    return { ids };
  }
  const unknown = Object.keys(filters).find((name) => !Object.hasOwn(flagFilters, name));
  if (unknown !== undefined) throw refusal(`Unknown filter: ${unknown.slice(0, 100)}`, 'filters');
  const given = Object.entries(filters).filter(([, value]) => value !== null);
  return { filters: Object.fromEntries(given.map(([name, value]) => [name, asText(value)])) };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function refusal(detail: string, attr: string | null): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr });
}

const maxDeletedTogether = 1000;

interface Deletion {
  deleted: { id: number; key: string }[];
  errors: { id: unknown; key?: string; reason: string }[];
}

/**
 * Deletes flags. A flag on which other flags depend is deleted only together with those flags.
 * @returns the reason for each flag that was not deleted
 */
async function deleteFlags(
  tx: Transaction,
  author: FlagAuthor & Pick<AddressedProject, 'environmentId' | 'rights'>,
  ids: readonly unknown[],
): Promise<Deletion> {
  const { environmentId, userId, rights } = author;
  await lockEnvironment(tx, environmentId);
  const numbers = ids.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= 2_147_483_647);
  const present = (await findFlags(tx, environmentId, numbers)).filter(({ deleted }) => !deleted);
  const flags = present.filter((flag) => hasRecordLevel(rights, 'feature_flag', 'editor', toRecordName(flag)));
  const closed = present.filter((flag) => !flags.includes(flag));
  const { deletable, kept } = splitDeletable(flags, {
    dependent: await findDependentFlags(tx, environmentId),
    withFeatures: await findFlagsWithFeatures(tx, numbers),
  });
  await markFlagsDeleted(tx, { ids: deletable.map(({ id }) => id), userId });
  for (const before of deletable) {
    await recordFlagActivity(tx, author, { before, after: { ...before, deleted: true } });
  }
  const found = new Set(present.map(({ id }) => id));
  const unknown = [...new Set(ids)].filter((id) => !found.has(Number(id)));
  return {
    deleted: deletable.map(({ id, key }) => ({ id, key })),
    errors: [
      ...kept,
      ...closed.map(({ id }) => ({ id, reason: 'You do not have editor access to this resource.' })),
      ...unknown.map((id) => ({ id, reason: 'Flag not found' })),
    ],
  };
}

function splitDeletable(
  flags: readonly FlagRow[],
  { dependent, withFeatures }: { dependent: readonly DependentFlag[]; withFeatures: ReadonlySet<number> },
) {
  const deletable = new Set(flags.filter(({ id }) => !withFeatures.has(id)).map(({ id }) => id));
  // If a flag cannot be deleted, neither can the flags on which it depends.
  const remaining = dependent.filter(({ id }) => !deletable.has(id));
  for (let flag = remaining.pop(); flag !== undefined; flag = remaining.pop()) {
    for (const needed of flag.needs) {
      if (!deletable.delete(needed)) continue;
      remaining.push(...dependent.filter(({ id }) => id === needed));
    }
  }
  const kept = flags.filter(({ id }) => !deletable.has(id));
  return {
    deletable: flags.filter(({ id }) => deletable.has(id)),
    kept: kept.map(({ id, key }) => ({
      id,
      key,
      reason: withFeatures.has(id) ? 'Flag is in use with early access features' : 'Other flags depend on it',
    })),
  };
}
