// Finds the persons on a list page, even in projects with too many persons to read in one request.

import type { Sql } from '@millrace/db';
import { StoppedSearch } from '../../sql/large-page.ts';
import {
  countPersons,
  findPersonIdAfter,
  findPersonsByStart,
  type IdRange,
  isPersonSearch,
  listPersonKeys,
  type PersonFilter,
  type PersonPosition,
  type PersonWindow,
} from './store.ts';

interface PersonList {
  projectId: number;
  filter: PersonFilter;
  window: PersonWindow;
}

/** Milliseconds after which a search returns the persons found so far. */
const longMs = 8000;
/**
 * Time limit in milliseconds that replaces `longMs` if persons were found through an index. The user is probably
 * looking for one of these persons.
 */
const shortMs = 400;
/**
 * If an index finds more persons than this, the list is not divided into two sections, because a page fills quickly
 * even without them.
 */
const maxByStart = 1000;

/**
 * Finds the persons on a page. In a list that is sorted by ID, a search first returns the persons whose email or
 * distinct ID starts with the search string, because an index finds them quickly.
 */
export async function findPersonKeys(
  sql: Sql,
  list: PersonList,
): Promise<PersonPosition[] | StoppedSearch<PersonPosition>> {
  const { filter, window, projectId } = list;
  const isLong = isPersonSearch(filter) && filter.email === undefined && window.order === '-id' && window.offset === 0;
  if (!isLong) return listPersonKeys(sql, list);
  const { behind, limit } = window;
  const text = filter.search ?? '';
  const isDivided = text !== '' && (behind === null || behind.part !== undefined);
  const byStart = isDivided ? await findPersonsByStart(sql, projectId, { text, max: maxByStart }) : null;
  if (byStart === null || byStart.length === 0) return walkPersons(sql, list, { maxMs: longMs });
  const first = behind?.part === 'rest' ? [] : await listPersonKeys(sql, list, { only: byStart });
  const found = first.map((key): PersonPosition => ({ ...key, part: 'start' }));
  if (found.length >= limit) return found;
  const rest = { ...window, behind: behind?.part === 'rest' ? behind : null, limit: limit - found.length };
  const others = await walkPersons(
    sql,
    { ...list, window: rest },
    { without: byStart, maxMs: found.length > 0 ? shortMs : longMs },
  );
  const inRest = (key: PersonPosition): PersonPosition => ({ ...key, part: 'rest' });
  if (!(others instanceof StoppedSearch)) return [...found, ...others.map(inRest)];
  return new StoppedSearch({ keys: [...found, ...others.keys.map(inRest)], end: inRest(others.end) });
}

/** The number of persons to read in the first step. Each step reads twice as many persons as the previous one. */
const firstStep = 2000;

async function walkPersons(
  sql: Sql,
  { projectId, filter, window }: PersonList,
  { maxMs, without }: { maxMs: number; without?: readonly string[] },
): Promise<PersonPosition[] | StoppedSearch<PersonPosition>> {
  const keys: PersonPosition[] = [];
  const walk = { projectId, behind: window.behind?.id ?? null, maxMs };
  const stoppedAt = await walkById(sql, walk, async ({ behind, from }) => {
    const step = { ...window, behind: behind === null ? null : { id: behind }, limit: window.limit - keys.length };
    const range = { ...(from !== null && { from }), ...(without !== undefined && { without }) };
    keys.push(...(await listPersonKeys(sql, { projectId, filter, window: step }, range)));
    return keys.length >= window.limit;
  });
  return stoppedAt === null ? keys : new StoppedSearch({ keys, end: { id: stoppedAt } });
}

/**
 * Counts the persons who match a filter, up to a maximum or until the time limit is reached.
 * @returns the count. `is_complete` is false if more persons may match.
 */
export async function countMatches(
  sql: Sql,
  { projectId, filter, most }: { projectId: number; filter: PersonFilter; most: number },
): Promise<{ count: number; is_complete: boolean }> {
  let count = 0;
  let stoppedAt: string | null = null;
  const countMore = async (range?: IdRange) => {
    count += await countPersons(sql, { projectId, filter, most: most + 1 - count }, range);
    return count > most;
  };
  if (isPersonSearch(filter) && filter.email === undefined)
    stoppedAt = await walkById(sql, { projectId, behind: null, maxMs: longMs }, countMore);
  else await countMore();
  return { count: Math.min(count, most), is_complete: count <= most && stoppedAt === null };
}

/**
 * Reads persons by ID, step by step, until `read` returns true or the time limit is reached. Reads at least one step.
 * @returns the lower bound of the last step if the time limit was reached, otherwise null
 */
async function walkById(
  sql: Sql,
  { projectId, behind: start, maxMs }: { projectId: number; behind: string | null; maxMs: number },
  read: (range: IdRange) => Promise<boolean>,
): Promise<string | null> {
  const deadline = performance.now() + maxMs;
  let behind = start;
  for (let count = firstStep; ; count *= 2) {
    const startedAt = performance.now();
    const from = await findPersonIdAfter(sql, projectId, { behind, count });
    const isDone = await read({ behind, from });
    if (from === null || isDone) return null;
    behind = from;
    const now = performance.now();
    if (now + 2 * (now - startedAt) > deadline) return from;
  }
}
