import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, freeFormObject, keysetPageSchema, keysetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import type { LargePages } from '../../sql/large-page.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { parseTimeParameter } from '../../time/relative-time.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { readPersons } from '../persons/store.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import {
  findGroupKeys,
  findGroupMembers,
  isGroupSearch,
  readGroup,
  readGroups,
  readTimesInGroup,
  type TimesInGroup,
} from './store.ts';

/** The cursor contains the type index and key of the page's last group. */
const position = Type.Object({ index: Type.Integer({ minimum: 0, maximum: 4 }), key: Type.String() });

/** The cursor contains the ID of the page's last person, as a string because the ID has 64 bits. */
const memberPosition = Type.Object({ id: Type.String({ pattern: '^\\d{1,18}$' }) });

const narrowing = 'group_type_index and group_key';

interface GroupRouteDeps {
  sql: Sql;
  searches: Searches;
  pages: LargePages;
}

export function groupRoutes({ sql, searches, pages }: GroupRouteDeps) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/groups',
      operationId: 'groups_list',
      summary: 'List groups',
      description: 'Returns the groups of the project, ordered by group type and key.',
      tags: ['groups'],
      scope: 'group:read',
      query: Type.Object({
        ...keysetQuery,
        group_type_index: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 4, description: 'Only groups of the group type with this index.' }),
        ),
        group_key: Type.Optional(Type.String({ description: 'Only groups with exactly this key.' })),
        search: Type.Optional(
          Type.String({
            maxLength: longestNeedle,
            description: 'Only groups whose key or `name` property contains this text, ignoring case.',
          }),
        ),
      }),
      responses: { 200: { description: 'One page of groups.', schema: keysetPageSchema(group) } },
      examples: { response: { next: null, results: [groupExample] } },
      handler: async ({ caller, target, query, request }) => {
        const projectId = target.environmentId;
        const behind = decodeCursor(position, query.cursor);
        return pages.page(request, {
          behind: behind && { group_type_index: behind.index, group_key: behind.key },
          limit: query.limit,
          findKeys(window) {
            const find = (on: Sql) => findGroupKeys(on, projectId, query, window);
            return isGroupSearch(query) ? searches.run({ caller, target }, narrowing, find) : find(sql);
          },
          async read(keys, maxBytes) {
            const { rows, used } = await readGroups(sql, projectId, { keys, maxBytes });
            return { rows: rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) })), used };
          },
          toCursor: ({ group_type_index: index, group_key: key }) => ({ index, key }),
        });
      },
    }),
  ];
}

export function findGroupRoute({ sql }: { sql: Sql }) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/groups/find',
    operationId: 'groups_find_retrieve',
    summary: 'Show a group',
    description: 'Returns the group with this group type and key, or 404 if the group does not exist.',
    tags: ['groups'],
    scope: 'group:read',
    query: groupAddress,
    responses: { 200: { description: 'The group.', schema: group } },
    examples: { response: groupExample },
    handler: async ({ target: { environmentId }, query }) => {
      const row = query.group_key.includes('\u0000') ? undefined : await readGroup(sql, environmentId, query);
      if (row === undefined) throw new AppError('not_found', 'Not found.');
      return { ...row, created_at: formatDateTime(row.created_at) };
    },
  });
}

export function groupMemberRoutes({ sql, searches, pages }: GroupRouteDeps) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/groups/members',
    operationId: 'groups_members',
    summary: 'List the persons in a group',
    description:
      'Returns the persons who have at least one event that belongs to the group, newest person first, with the number of these events ' +
      'and the time of the latest one. Group membership is not stored, so every page scans the events since `after`. The result is ' +
      'empty if the group does not exist.',
    tags: ['groups'],
    scope: 'person:read',
    query: Type.Object({
      ...keysetQuery,
      group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type, 0 to 4.' }),
      group_key: Type.String({
        minLength: 1,
        maxLength: 400,
        description: 'Key of the group, which must match exactly.',
      }),
      after: Type.String({
        default: '-30d',
        description: 'Counts only events after this time: an ISO 8601 time, or a relative time such as `-7d`.',
      }),
    }),
    responses: { 200: { description: 'One page of persons.', schema: keysetPageSchema(groupMember) } },
    examples: {
      response: {
        next: null,
        results: [{ ...personExample, event_count: 12, last_event_at: '2026-11-24T16:02:00Z' }],
      },
    },
    handler: async ({ caller, target, query, request }) => {
      const projectId = target.environmentId;
      const group = { ...query, after: parseTimeParameter(query.after, 'after', new Date()) };
      const search = <T>(work: (on: Sql) => Promise<T>) => searches.run({ caller, target }, 'after', work);
      return pages.page(request, {
        behind: decodeCursor(memberPosition, query.cursor),
        limit: query.limit,
        findKeys: (window) => search((on) => findGroupMembers(on, projectId, group, window)),
        async read(keys, maxBytes) {
          const { rows, used } = await readPersons(sql, projectId, { keys, maxBytes });
          const uuids = rows.map(({ uuid }) => uuid);
          const times = await search((on) => readTimesInGroup(on, projectId, group, uuids));
          const distinctIds = await listDistinctIds(sql, projectId, rows);
          const members = rows.map((row) => ({
            ...toPerson(row, distinctIds.get(row.uuid)),
            ...toTimesInGroup(times.get(row.uuid)),
          }));
          return { rows: members, used };
        },
        toCursor: ({ id }) => ({ id }),
      });
    },
  });
}

/** `times` is undefined if the person's distinct IDs were merged into another person between the two reads. */
const toTimesInGroup = (times: TimesInGroup | undefined) => ({
  event_count: times?.event_count ?? 0,
  last_event_at: times ? formatDateTime(times.last_event_at) : null,
});

/** Requests identify a group by type and key, because groups do not have numeric IDs. */
export const groupAddress = Type.Object({
  group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type, 0 to 4.' }),
  group_key: Type.String({ minLength: 1, description: 'Key of the group, which must match exactly.' }),
});

export const group = Type.Object(
  {
    group_type: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the group type, for example `company`. Null if the type is not known.',
    }),
    group_type_index: Type.Integer({ description: 'Index of the group type in the project, 0 to 4.' }),
    group_key: Type.String({ description: 'Key of the group, unique within its group type.' }),
    group_properties: freeFormObject({ description: 'Current properties of the group.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the group was first seen.' }),
  },
  { title: 'Group' },
);

const groupMember = Type.Object(
  {
    ...person.properties,
    event_count: Type.Integer({
      description: "Number of this person's events since `after` that belong to the group.",
    }),
    last_event_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Time of the latest of these events.',
    }),
  },
  { title: 'GroupMember' },
);

export const groupExample = {
  group_type: 'company',
  group_type_index: 0,
  group_key: 'acme',
  group_properties: { name: 'Acme Ltd', seats: 12 },
  created_at: '2026-11-20T08:15:00Z',
};
