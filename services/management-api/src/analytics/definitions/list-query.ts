// Query parameters that the lists of event and property definitions share.

import { offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { type DefinitionOrder, definitionOrders } from './store.ts';

export const definitionParams = Type.Object({
  id: Type.String({ format: 'uuid', description: 'ID of the definition.' }),
});

export const definitionListQuery = {
  ...offsetQuery,
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only definitions whose names contain every word of this text, in any order, ignoring case.',
    }),
  ),
  ordering: Type.Optional(
    Type.Enum(definitionOrders, {
      description:
        'Sorts by `name` or `last_seen_at`, with a leading `-` for descending order. Defaults to `name`. Names that have ' +
        'not been received yet count as the earliest.',
    }),
  ),
  volumes: Type.Optional(
    Type.Boolean({
      description:
        'Whether to include the number of events and insights from the last 30 days. If true, the request counts as a search and can take longer.',
    }),
  ),
  excluded_properties: Type.Optional(
    Type.String({ description: 'Names of definitions to leave out, as a JSON array.' }),
  ),
  exclude_hidden: Type.Optional(Type.Boolean({ description: 'Whether to leave out hidden definitions.' })),
  verified: Type.Optional(
    Type.Boolean({
      description: 'If true, only verified definitions. If false, only definitions that are not verified.',
    }),
  ),
  tags: Type.Optional(
    Type.String({ description: 'Only definitions with at least one of these tags, as a JSON array.' }),
  ),
};

interface DefinitionQuery {
  search?: string;
  ordering?: DefinitionOrder;
  excluded_properties?: string;
  exclude_hidden?: boolean;
  verified?: boolean;
  tags?: string;
}

/** @throws AppError `invalid` naming the parameter */
export function readDefinitionListFilters({
  search,
  ordering,
  excluded_properties,
  exclude_hidden,
  verified,
  tags,
}: DefinitionQuery) {
  const excludedNames = parseNames(excluded_properties, 'excluded_properties');
  const listedTags = parseNames(tags, 'tags');
  return {
    ...(search !== undefined && { search }),
    ...(ordering !== undefined && { order: ordering }),
    ...(excludedNames !== undefined && { excludedNames }),
    ...(listedTags !== undefined && listedTags.length > 0 && { tags: listedTags }),
    ...(verified !== undefined && { isVerified: verified }),
    excludesHidden: exclude_hidden ?? false,
  };
}

/** @throws AppError `invalid` naming the parameter */
export function parseNames(given: string | undefined, attr: string): string[] | undefined {
  if (given === undefined || given === '') return undefined;
  let names: unknown;
  try {
    names = JSON.parse(given);
  } catch {
    names = null;
  }
  const isName = (name: unknown): name is string => typeof name === 'string' && !name.includes('\0');
  if (Array.isArray(names) && names.every(isName)) return names;
  throw new AppError('invalid', 'Send a JSON array of names, such as `["a","b"]`.', { attr });
}
