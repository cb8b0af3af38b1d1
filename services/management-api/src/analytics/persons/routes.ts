// Declares the routes that read persons and their activity log.

import { findPerson, type Sql } from '@millrace/db';
import { decodeCursor, keysetPageSchema, keysetQuery, PageStream } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireScope } from '../../access/require-scope.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { type LargePages, offsetSchemaOfLargeList, refuseOffsetAfterCursor } from '../../sql/large-page.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { readCohortPersons } from '../cohorts/person-list.ts';
import { requireCohort } from '../cohorts/write.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { createEventRead, findLatestEventTimes } from '../events/reads.ts';
import type { EventDeps } from '../events/routes.ts';
import { propertiesQuerySchema, readListFilters } from '../property-filters/parse-property-filters.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { countMatches, findPersonKeys } from './search.ts';
import { isPersonSearch, type PersonPosition, readPerson, readPersons } from './store.ts';

/**
 * A cursor contains the ID of the last person on the page. The ID is a string because it has 64 bits. In lists that are
 * sorted by a time, the cursor also contains that time.
 */
const id = Type.String({ pattern: '^\\d{1,18}$' });
const positionById = Type.Object({ id, part: Type.Optional(Type.Enum(['start', 'rest'])) });
const positionByTime = Type.Object({ id, created_us: Type.String({ pattern: '^-?\\d{1,17}$' }) });

const maxCounted = 100_000;
const personCount = Type.Object(
  {
    count: Type.Integer({ description: 'Number of persons.' }),
    is_complete: Type.Boolean({ description: 'False if there can be more persons than `count`.' }),
  },
  { title: 'PersonCount' },
);

/** The filters that use an index. Error messages about slow searches suggest them. */
const narrowing = '`distinct_id` or `email`';

const owners = ['person'] as const;
const orders = ['created_at', '-created_at'] as const;

const personFilterQuery = {
  distinct_id: Type.Optional(Type.String({ description: 'Returns only the person with this distinct ID.' })),
  email: Type.Optional(
    Type.String({ description: 'Returns only persons whose `email` property is exactly this value.' }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description:
        'Returns only persons whose email, name or distinct IDs contain this string, ignoring case. Persons whose email ' +
        'or distinct ID starts with it come first, unless you send `order`.',
    }),
  ),
  is_identified: Type.Optional(
    Type.Boolean({
      description:
        'True returns only persons who have been identified. False returns only persons who have never been ' +
        'identified.',
    }),
  ),
  properties: propertiesQuerySchema(owners),
};

export function personRoutes({ sql, searches, externalEventStore, pages }: EventDeps & { pages: LargePages }) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/persons',
      operationId: 'persons_list',
      summary: 'List persons',
      description:
        'Returns the persons in the project, most recently created first unless `order` says otherwise. If you send ' +
        'several filters, only persons that match all filters are returned. To get the following pages, use `next` or `offset`. With `offset`, a person may be ' +
        'returned twice if new persons are created between your requests. If a search runs out of time, the page contains ' +
        'the persons found so far, or none, and `next` continues the search.',
      tags: ['persons'],
      scope: 'person:read',
      query: Type.Object({
        ...keysetQuery,
        offset: offsetSchemaOfLargeList(Number.MAX_SAFE_INTEGER),
        ...personFilterQuery,
        order: Type.Optional(
          Type.String({
            pattern: '^-?created_at$',
            description:
              'Sorts the persons by the time they were first seen: `created_at` (earliest first) or `-created_at` ' +
              '(latest first). By default, persons are sorted by when they were added to the project, latest first. ' +
              'The two differ for imported events and after merges.',
          }),
        ),
        last_seen: Type.Optional(
          Type.Boolean({
            description:
              'Whether to include `last_seen_at`. If true, the request counts as a search and can take longer.',
          }),
        ),
        cohort: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 2_147_483_647,
            description:
              'Returns only persons in the cohort with this ID, ordered by UUID. Cannot be combined with other ' +
              'filters or with `offset`. Also ' +
              'requires the scope `cohort:read`.',
          }),
        ),
      }),
      responses: { 200: { description: 'One page of persons.', schema: keysetPageSchema(person) } },
      examples: { response: { next: null, results: [personExample] } },
      handler: async ({ caller, target, query, request }) => {
        const projectId = target.environmentId;
        const properties = await readListFilters(sql, projectId, { text: query.properties, owners });
        const filter = { ...query, properties };
        if (query.cohort !== undefined) {
          const cohort = await requireFilterCohort(sql, { caller, target }, query);
          const read = { cohort, caller, target, request, query };
          return new PageStream(readCohortPersons({ sql, searches }, read));
        }
        refuseOffsetAfterCursor(query);
        const signal = request.disconnectSignal();
        const findTimes = (ids: string[]) =>
          searches.run({ caller, target }, null, (on) =>
            findLatestEventTimes(
              createEventRead(externalEventStore, { sql: on, projectId, signal, isRepeated: true }),
              ids,
            ),
          );
        const order = orders.find((one) => one === query.order) ?? '-id';
        const behind: PersonPosition | null =
          order === '-id' ? decodeCursor(positionById, query.cursor) : decodeCursor(positionByTime, query.cursor);
        return pages.page(request, {
          behind,
          limit: query.limit,
          offset: query.offset,
          findKeys(keys) {
            const window = { ...keys, order } as const;
            const find = (on: Sql) => findPersonKeys(on, { projectId, filter, window });
            const isWalk = isPersonSearch(filter) || window.offset > 0;
            return isWalk ? searches.run({ caller, target }, narrowing, find) : find(sql);
          },
          async read(keys, maxBytes) {
            const { rows, used } = await readPersons(sql, projectId, { keys, maxBytes });
            const distinctIds = await listDistinctIds(sql, projectId, rows);
            const latest = query.last_seen
              ? await findTimes([...distinctIds.values()].flat())
              : new Map<string, Date>();
            const shown = rows.map((row) => {
              const ids = distinctIds.get(row.uuid);
              const times = (ids ?? []).flatMap((id) => latest.get(id)?.getTime() ?? []);
              return toPerson(row, ids, times.length === 0 ? undefined : new Date(Math.max(...times)));
            });
            return { rows: shown, used };
          },
          toCursor: (last: PersonPosition) => ({ ...last }),
        });
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/persons/count',
      operationId: 'persons_count',
      summary: 'Count persons',
      description:
        `Returns the number of persons that match all filters, up to ${maxCounted}. If a search runs out of time, the ` +
        'number includes only the persons found so far, and `is_complete` is false.',
      tags: ['persons'],
      scope: 'person:read',
      query: Type.Object(personFilterQuery),
      responses: { 200: { description: 'The number of persons.', schema: personCount } },
      examples: { response: { count: 42, is_complete: true } },
      handler: async ({ caller, target, query }) => {
        const { environmentId } = target;
        const properties = await readListFilters(sql, environmentId, { text: query.properties, owners });
        const filter = { ...query, properties };
        return searches.run({ caller, target }, narrowing, (on) =>
          countMatches(on, { projectId: environmentId, filter, most: maxCounted }),
        );
      },
    }),
  ];
}

/**
 * Checks the `cohort` parameter of the person list.
 * @throws AppError `invalid` naming a parameter that cannot be combined with `cohort`, or naming `cohort` if the cohort
 * does not exist
 */
async function requireFilterCohort(
  sql: Sql,
  { caller, target }: { caller: Caller; target: AddressedProject },
  {
    cohort: id = 0,
    limit: _limit,
    cursor: _cursor,
    offset,
    ...filters
  }: { cohort?: number; offset: number } & Record<string, unknown>,
) {
  const other = offset > 0 ? 'offset' : Object.keys(filters).find((name) => filters[name] !== undefined);
  if (other !== undefined) {
    throw new AppError('invalid', `\`${other}\` cannot be combined with \`cohort\`.`, { attr: other });
  }
  requireScope(caller, 'cohort:read');
  try {
    return await requireCohort(sql, target, { id, needed: 'viewer' });
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error;
    throw new AppError('invalid', 'The project has no cohort with this ID.', { attr: 'cohort' });
  }
}

export function personItemRoutes({ sql }: { sql: Sql }) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/persons/:id',
      operationId: 'persons_retrieve',
      summary: 'Show a person',
      description: 'Returns one person, by UUID, numeric ID or any distinct ID.',
      tags: ['persons'],
      scope: 'person:read',
      params: personParams,
      responses: { 200: { description: 'The person.', schema: person } },
      examples: { response: personExample },
      handler: async ({ target: { environmentId }, params }) => {
        const { uuid } = await findPerson(sql, environmentId, params.id);
        const row = await readPerson(sql, environmentId, uuid);
        if (row === undefined) throw new AppError('not_found', 'Not found.');
        return toPerson(row, (await listDistinctIds(sql, environmentId, [row])).get(uuid));
      },
    }),
  ];
}

/**
 * Declares the routes for the activity log of persons. The log contains splits, and deletions with their progress.
 * Entries identify a person by UUID.
 */
export function personActivityRoutes({ sql }: { sql: Sql }) {
  const common = {
    method: 'GET',
    tags: ['persons'] as [string],
    scope: 'person:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of log entries.', schema: activityPage } },
    examples: { response: activityExample },
    below: environmentBasePaths(sql),
  } as const;
  const scopes = ['Person'];
  const description =
    'Returns person deletions and splits, the latest first. For a deletion, the change to the `deletion` field ' +
    'contains the progress: `status` (`waiting`, `running` or `completed`), `delete_events`, and `events` (the ' +
    'number of events that have been deleted or stripped of person data so far). For a split (`split_person`), ' +
    'the change contains the UUIDs of the new persons.';
  return [
    ...defineRoutes({
      ...common,
      path: '/persons/activity',
      operationId: 'persons_activity',
      summary: 'Show the activity log of persons',
      description,
      handler: async ({ target: { environmentId }, query, request }) =>
        readActivity(sql, request, { ...query, scopes, environmentId }),
    }),
    ...defineRoutes({
      ...common,
      path: '/persons/:id/activity',
      operationId: 'persons_activity_of_one',
      summary: "Show a person's activity log",
      description: `${description} Use the UUID of the person in the path.`,
      params: personParams,
      handler: async ({ target: { environmentId }, params, query, request }) => {
        const itemId = params.id.toLowerCase();
        const page = await readActivity(sql, request, { ...query, scopes, environmentId, itemId });
        // A deleted person still has log entries. If no entry is found, return 404 unless the person exists.
        if (page.total_count === 0) await findPerson(sql, environmentId, params.id);
        return page;
      },
    }),
  ];
}

export const personParams = Type.Object({
  id: Type.String({
    description: 'UUID, numeric ID or distinct ID of the person, tried in this order. Must be percent-encoded.',
  }),
});
