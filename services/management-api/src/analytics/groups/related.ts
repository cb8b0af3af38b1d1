// Declares the route that lists the persons and groups that share events with a person or group.

import { findPerson, type Sql } from '@millrace/db';
import { formatDateTime, freeFormObject } from '@millrace/http';
import { isAppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireScope } from '../../access/require-scope.ts';
import type { Searches } from '../../access/searches.ts';
import { listDistinctIds, maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';
import { type PersonKey, readPersons } from '../persons/store.ts';
import { personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { type Actor, findRelatedGroups, maxRelatedGroups } from './related-store.ts';
import { findGroupMembers, type GroupKey, readGroups } from './store.ts';

const days = 90;
const maxRelatedPersons = 100;
/** Approximate maximum total size of the persons in a response, in bytes. The groups have the same limit. */
const maxBytes = 2 * 1024 * 1024;

const relatedActor = Type.Object(
  {
    type: Type.Unsafe<'person' | 'group'>({
      type: 'string',
      enum: ['person', 'group'],
      description: 'Whether this is a person or a group. Persons and groups have different fields.',
    }),
    id: Type.String({ description: 'UUID of the person, or key of the group.' }),
    uuid: Type.Optional(Type.String({ format: 'uuid', description: 'Only for persons: the same as `id`.' })),
    name: Type.Optional(Type.String({ description: 'Only for persons: the display name.' })),
    distinct_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: `Only for persons: the main distinct ID followed by the others, at most ${maxDistinctIdsShown} in total.`,
      }),
    ),
    is_identified: Type.Optional(
      Type.Boolean({ description: 'Only for persons: whether the person was ever identified.' }),
    ),
    group_key: Type.Optional(Type.String({ description: 'Only for groups: the same as `id`.' })),
    group_type_index: Type.Optional(
      Type.Integer({ description: 'Only for groups: index of the group type in the project, 0 to 4.' }),
    ),
    created_at: Type.String({ format: 'date-time', description: 'When the person or group was first seen.' }),
    properties: freeFormObject({ description: 'Current properties of the person or group.' }),
    matched_recordings: Type.Array(freeFormObject(), { description: 'Always empty.' }),
    value_at_data_point: Type.Null({ description: 'Always null.' }),
  },
  { title: 'RelatedActor' },
);
type RelatedActor = Static<typeof relatedActor>;

const { id: _number, uuid, last_seen_at: _notKnown, ...shownExample } = personExample;
const nothingMore = { matched_recordings: [], value_at_data_point: null };

export function relatedActorsRoute({ sql, searches }: { sql: Sql; searches: Searches }) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/groups/related',
    operationId: 'groups_related_retrieve',
    summary: 'List persons and groups that are related to a person or group',
    description:
      `Returns the persons and groups that share at least one event from the last ${days} days with the person or group. The result contains up to ` +
      `${maxRelatedPersons} persons (only for a group), newest first, and up to ${maxRelatedGroups} groups of every other group type, ` +
      'ordered by key. Fewer are returned if the result would exceed 2 MiB. Also requires the scope `person:read`.',
    tags: ['groups'],
    scope: 'group:read',
    query: Type.Object({
      id: Type.String({
        minLength: 1,
        maxLength: 400,
        description: 'Key of the group. Without `group_type_index`: UUID, numeric ID or distinct ID of a person.',
      }),
      group_type_index: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 4,
          description: 'Index of the group type, 0 to 4. Leave it out if `id` is the ID of a person.',
        }),
      ),
    }),
    responses: {
      200: {
        description:
          'The related persons, followed by the related groups. Empty if the person or group does not exist.',
        schema: Type.Array(relatedActor),
      },
    },
    examples: { response: [{ type: 'person', id: uuid, uuid, ...shownExample, ...nothingMore }] },
    handler: async ({ caller, target, query }) => {
      requireScope(caller, 'person:read');
      const { environmentId } = target;
      const actor = await findActor(sql, environmentId, query);
      if (actor === undefined) return [];
      const after = new Date(Date.now() - days * 24 * 60 * 60 * 1000);
      const keys = await searches.run({ caller, target }, null, async (on) => ({
        persons: 'personUuid' in actor ? [] : await findNewestMembers(on, environmentId, { ...actor, after }),
        groups: await findRelatedGroups(on, environmentId, { actor, after }),
      }));
      return [
        ...(await shownPersons(sql, environmentId, keys.persons)),
        ...(await shownGroups(sql, environmentId, keys.groups)),
      ];
    },
  });
}

async function findActor(
  sql: Sql,
  environmentId: number,
  { id, group_type_index }: { id: string; group_type_index?: number },
): Promise<Actor | undefined> {
  if (group_type_index !== undefined) return { group_type_index, group_key: id };
  try {
    return { personUuid: (await findPerson(sql, environmentId, id)).uuid };
  } catch (error) {
    if (isAppError(error, 'not_found')) return undefined;
    throw error;
  }
}

const findNewestMembers = (
  sql: Sql,
  environmentId: number,
  group: { group_type_index: number; group_key: string; after: Date },
) => findGroupMembers(sql, environmentId, group, { behind: null, limit: maxRelatedPersons, offset: 0 });

async function shownPersons(sql: Sql, environmentId: number, keys: PersonKey[]): Promise<RelatedActor[]> {
  const { rows } = await readPersons(sql, environmentId, { keys, maxBytes });
  const distinctIds = await listDistinctIds(sql, environmentId, rows);
  return rows.map((row) => {
    const { name, distinct_ids, created_at } = toPerson(row, distinctIds.get(row.uuid));
    const { properties, is_identified } = row;
    return {
      type: 'person' as const,
      id: row.uuid,
      uuid: row.uuid,
      name,
      distinct_ids,
      is_identified,
      created_at,
      properties,
      ...nothingMore,
    };
  });
}

async function shownGroups(sql: Sql, environmentId: number, keys: GroupKey[]): Promise<RelatedActor[]> {
  const { rows } = await readGroups(sql, environmentId, { keys, maxBytes });
  return rows.map(({ group_key, group_type_index, group_properties: properties, created_at }) => ({
    type: 'group' as const,
    id: group_key,
    group_key,
    group_type_index,
    created_at: formatDateTime(created_at),
    properties,
    ...nothingMore,
  }));
}
