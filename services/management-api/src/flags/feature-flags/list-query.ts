// Defines the query parameters for the list of feature flags, and converts them to SQL conditions and a sort order.

import { offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import { createConditions } from '../../sql/conditions.ts';
import { parseIds, parseTexts } from '../../sql/listed-values.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { type FlagConditions, hasVariants, isStale } from './store.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));

/** Filters for lists of flags. Invalid values are ignored. */
export const flagFilters = {
  active: text('Only active (`true`), inactive (`false`) or stale (`STALE`) flags.'),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only flags whose key or name contains this text, ignoring case.',
    }),
  ),
  type: text(
    'Only flags of this type: `boolean`, `multivariant`, `remote_config`, or `experiment`, which never matches.',
  ),
  created_by_id: text('Only flags created by these users: a user ID, or several as `1,2` or `[1, 2]`.'),
  evaluation_runtime: text('Only flags with this evaluation runtime: `all`, `client` or `server`.'),
  tags: text('Only flags with at least one of these tags, as a JSON array.'),
  has_evaluation_tags: text('Only flags with evaluation contexts (`true`) or without them (`false`).'),
  has_evaluation_contexts: text(
    'Newer name of `has_evaluation_tags`. If you send both parameters, this one takes precedence.',
  ),
  excluded_properties: text('Keys of flags to leave out, as a JSON array.'),
  archived: text('Only archived flags (`true`), or only flags that are not archived (`false`, the default).'),
};
export type FlagFilterValues = { [Name in keyof typeof flagFilters]?: string };

export const listFlagsQuery = Type.Object({
  ...offsetQuery,
  ...flagFilters,
  order: text('Field to sort by, with a leading `-` for descending order. Defaults to `-created_at`.'),
});

/**
 * Returns the conditions for an environment's flags that match a query, that the caller can see, and that are not
 * deleted.
 */
export function flagConditions(
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  query: FlagFilterValues,
): FlagConditions {
  const where = createConditions();
  addVisibilityCondition(where, rights, 'feature_flag', { id: 'f.id', createdById: 'f.created_by_id' });
  where.add(`f.project_id = ${where.parameter(environmentId)}`);
  where.add('NOT f.deleted');
  addState(where, query);
  if (query.search) {
    const part = where.parameter(`%${query.search.replace(/[\\%_]/g, '\\$&')}%`);
    where.add(`(f.key ILIKE ${part} OR f.name ILIKE ${part})`);
  }
  const condition = ofType.get(query.type ?? '');
  if (condition) where.add(condition);
  const creators = parseIds(query.created_by_id);
  if (creators.length > 0) where.add(`f.created_by_id = ANY (${where.parameter(creators)}::int[])`);
  if (query.evaluation_runtime) {
    where.add(`coalesce(f.evaluation_runtime, 'all') = ${where.parameter(query.evaluation_runtime)}`);
  }
  const tags = parseTexts(query.tags);
  if (tags.length > 0) where.add(`f.tags && ${where.parameter(tags)}::text[]`);
  const excludedKeys = parseTexts(query.excluded_properties);
  if (excludedKeys.length > 0) where.add(`f.key <> ALL (${where.parameter(excludedKeys)}::text[])`);
  return where;
}

function addState(where: FlagConditions, query: FlagFilterValues): void {
  const active = query.active?.toLowerCase();
  if (active === 'true') where.add('f.active');
  if (active === 'false') where.add('NOT f.active');
  if (active === 'stale') where.add(isStale);
  where.add(query.archived?.toLowerCase() === 'true' ? 'f.archived' : 'NOT f.archived');
  const contexts = (query.has_evaluation_contexts ?? query.has_evaluation_tags)?.toLowerCase();
  if (contexts === 'true') where.add(`f.evaluation_contexts <> '{}'`);
  if (contexts === 'false') where.add(`f.evaluation_contexts = '{}'`);
}

const ofType = new Map([
  ['boolean', `NOT ${hasVariants} AND f.is_remote_configuration IS NOT TRUE`],
  ['multivariant', hasVariants],
  ['experiment', 'false'],
  ['remote_config', 'f.is_remote_configuration IS TRUE'],
]);

const orders = ['id', 'key', 'name', 'active', 'version', 'created_at', 'updated_at', 'last_called_at'] as const;

/** Returns SQL for a sort order. Unknown fields are ignored. */
export function toFlagOrder(order: string | undefined): string {
  const isDescending = order?.startsWith('-') ?? true;
  const requested = order?.replace(/^-/, '');
  const column = orders.find((name) => name === requested);
  if (column === undefined) return 'f.created_at DESC, f.id DESC';
  return `f.${column} ${isDescending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}, f.id ${isDescending ? 'DESC' : 'ASC'}`;
}
