// Lists a cohort's persons as JSON or CSV. For a dynamic cohort, evaluates the filters to find the persons.

import { formatCsv } from '@millrace/contracts/csv';
import type { Sql } from '@millrace/db';
import { createCohortAudience, matchPersons, type StaticCohort } from '@millrace/flags/cohorts';
import {
  type ApiRequest,
  decodeCursor,
  encodeCursor,
  keysetQuery,
  PageStream,
  pageLink,
  TextContent,
} from '@millrace/http';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireScope } from '../../access/require-scope.ts';
import type { Searches } from '../../access/searches.ts';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import type { PersonRow } from '../shown-persons/person-row.ts';
import { person, personExample } from '../shown-persons/person-schema.ts';
import { toPerson } from '../shown-persons/to-person.ts';
import { listMemberUuids, readPersons } from './member-store.ts';
import { cohortParams, cohortsPath, cohortTags as tags } from './schema.ts';
import { requireCohort } from './write.ts';

const position = Type.Object({ after: Type.String({ format: 'uuid' }) });
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export function personListRoute({ sql, searches }: { sql: Sql; searches: Searches }) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: `${cohortsPath}/:id/persons`,
    operationId: 'cohorts_persons',
    summary: 'List the persons in a cohort',
    description:
      'Returns the persons who currently belong to the cohort, ordered by UUID. For a dynamic cohort, persons are ' +
      'checked one by one, so a page can take a long time. Also requires the scope `person:read`. With `format=csv`, ' +
      'the page is a CSV file and the `Link` header contains the URL of the next page.',
    tags,
    scope: 'cohort:read',
    params: cohortParams,
    query: Type.Object({
      ...keysetQuery,
      format: Type.Optional(
        Type.String({ description: '`csv` returns a CSV file. Any other value, or none, returns JSON.' }),
      ),
    }),
    responses: {
      200: {
        description: 'One page of persons.',
        schema: Type.Object(
          {
            results: Type.Array(person, { description: 'The persons on this page.' }),
            next: nullableText('URL of the next page, or null on the last page.'),
            previous: nullableText('Always null.'),
          },
          { title: 'CohortPersonPage' },
        ),
        text: {
          mediaType: 'text/csv; charset=utf-8',
          example: 'person_id,distinct_id,email,is_identified,created_at\r\n',
        },
      },
    },
    examples: { response: { results: [personExample], next: null, previous: null } },
    handler: async ({ caller, target, params: { id }, query, request }) => {
      requireScope(caller, 'person:read');
      const cohort = await requireCohort(sql, target, { id, needed: 'viewer' });
      const read = { cohort, caller, target, request, query };
      if (query.format === 'csv') return createCsv({ sql, searches }, read);
      return new PageStream(readCohortPersons({ sql, searches }, read));
    },
  });
}

interface CohortRead {
  cohort: { id: number; is_static: boolean };
  caller: Caller;
  target: AddressedProject;
  request: ApiRequest;
  query: { cursor?: string; limit: number };
}

type Deps = { sql: Sql; searches: Searches };

/** Yields a page of a cohort's persons in chunks, in the format of list responses. */
export async function* readCohortPersons(deps: Deps, read: CohortRead) {
  const { environmentId } = read.target;
  for await (const { persons, end } of memberPortions(deps, read)) {
    const distinctIds = await listDistinctIds(deps.sql, environmentId, persons);
    const results = persons.map((row) => toPerson(row, distinctIds.get(row.uuid)));
    yield { results, end: end && { next: linkTo(read.request, end.after), previous: null } };
  }
}

function memberPortions({ sql, searches }: Deps, { cohort, caller, target, query }: CohortRead) {
  const after = decodeCursor(position, query.cursor)?.after ?? null;
  const place = { projectId: target.environmentId, cohortId: cohort.id, isStatic: cohort.is_static };
  return portionsOf({ after, limit: query.limit }, (window) => {
    const find = (on: Sql) => findMembers(on, place, window);
    return cohort.is_static ? find(sql) : searches.run({ caller, target }, 'a smaller `limit`', find);
  });
}

const linkTo = (request: ApiRequest, after: string | null) =>
  after === null ? null : pageLink(request, { cursor: encodeCursor({ after }) });

async function createCsv(deps: Deps, read: CohortRead): Promise<TextContent> {
  const rows: string[][] = [];
  let next: string | null = null;
  for await (const { persons, end } of memberPortions(deps, read)) {
    rows.push(...persons.map(toCsvRow));
    if (end) next = linkTo(read.request, end.after);
  }
  return new TextContent(formatCsv([header, ...rows]), {
    'Content-Disposition': `attachment; filename="cohort-${read.cohort.id}.csv"`,
    ...(next !== null && { Link: `<${next}>; rel="next"` }),
  });
}

interface MemberPortion {
  persons: PersonRow[];
  /** The start of the next page. Null in every chunk before the last. */
  end: { after: string | null } | null;
}

/** Yields a total of `limit` persons, or fewer if the cohort has fewer. */
async function* portionsOf(
  { after, limit }: MemberWindow,
  find: (window: MemberWindow) => Promise<MemberPage>,
): AsyncGenerator<MemberPortion, void> {
  let missing = limit;
  for (let from = after; ; ) {
    const page = await find({ after: from, limit: missing });
    missing -= page.persons.length;
    from = page.after;
    const isLast = missing === 0 || from === null;
    yield { persons: page.persons, end: isLast ? { after: from } : null };
    if (isLast) return;
  }
}

interface MemberWindow {
  after: string | null;
  limit: number;
}

/**
 * Maximum number of persons that one search examines. A search evaluates the filters of a dynamic cohort for one person
 * after another.
 */
const maxLookedAt = 20_000;
const maxMs = 3000;

interface FoundUuids {
  uuids: string[];
  /** UUID of the last person who was examined, or null if all persons were examined. */
  lookedUntil: string | null;
}

interface MemberPage {
  persons: PersonRow[];
  /** UUID of the last person who was examined, or null if all persons were examined. */
  after: string | null;
}

/**
 * Finds persons of a cohort, sorted by UUID. May return fewer than `limit` persons, or none, even if the cohort has
 * more.
 */
async function findMembers(
  sql: Sql,
  cohort: StaticCohort & { isStatic: boolean },
  window: MemberWindow,
): Promise<MemberPage> {
  const { uuids, lookedUntil } = cohort.isStatic
    ? await listed(sql, cohort, window)
    : await evaluated(sql, cohort, window);
  const persons = await readPersons(sql, cohort.projectId, uuids);
  const last = persons.at(-1)?.uuid;
  // If `readPersons` stopped at its byte limit, the next page starts after the last returned person.
  const isCut = last !== undefined && uuids.some((uuid) => uuid > last) && persons.length < uuids.length;
  return { persons, after: isCut ? last : lookedUntil };
}

async function listed(sql: Sql, cohort: StaticCohort, { after, limit }: MemberWindow): Promise<FoundUuids> {
  const uuids = await listMemberUuids(sql, cohort, { after, limit: limit + 1 });
  const shown = uuids.slice(0, limit);
  return { uuids: shown, lookedUntil: uuids.length > limit ? (shown.at(-1) ?? null) : null };
}

async function evaluated(
  sql: Sql,
  { projectId, cohortId }: StaticCohort,
  { after, limit }: MemberWindow,
): Promise<FoundUuids> {
  const audience = await createCohortAudience(sql, projectId, [cohortId]);
  const startedAt = performance.now();
  const uuids: string[] = [];
  let lookedAt = 0;
  for await (const page of matchPersons(sql, projectId, { audience, after })) {
    for (const { uuid, matches } of page) {
      if (matches[0] === true) uuids.push(uuid);
      if (uuids.length === limit) return { uuids, lookedUntil: uuid };
    }
    lookedAt += page.length;
    const isEnough = lookedAt >= maxLookedAt || performance.now() - startedAt > maxMs;
    if (isEnough) return { uuids, lookedUntil: page.at(-1)?.uuid ?? null };
  }
  return { uuids, lookedUntil: null };
}

/** `memberFile` recognizes these headers, so an exported file can be uploaded to create a static cohort. */
const header = ['person_id', 'distinct_id', 'email', 'is_identified', 'created_at'];

const toCsvRow = ({ uuid, main_distinct_id, properties: { email }, is_identified, created_at }: PersonRow) => [
  uuid,
  main_distinct_id,
  typeof email === 'string' ? email : '',
  String(is_identified),
  created_at.toISOString(),
];
