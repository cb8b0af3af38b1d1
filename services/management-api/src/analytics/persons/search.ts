// Finds the persons on a page of a list, also in projects with too many persons to read all of them in one request.

import type { Sql } from '@millrace/db';
import { StoppedSearch } from '../../sql/large-page.ts';
import {
  findPersonsByStart,
  idFurther,
  isSearch,
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

/** How long a search reads persons one after the other, before it returns those found so far. */
const longMs = 8000;
/** The same if it has found persons by an index, because these are probably the ones that the user is looking for. */
const shortMs = 400;
/** If more persons start with the search text, the list is not divided: a page will be full soon. */
const mostByStart = 1000;

/**
 * Finds the persons on a page. A list by ID with a search text begins with the persons whose email or distinct ID starts
 * with this text, because they can be found by an index.
 */
export async function findPersonKeys(
  sql: Sql,
  list: PersonList,
): Promise<PersonPosition[] | StoppedSearch<PersonPosition>> {
  const { filter, window, projectId } = list;
  const isLong = isSearch(filter) && filter.email === undefined && window.order === '-id' && window.offset === 0;
  if (!isLong) return listPersonKeys(sql, list);
  const { behind, limit } = window;
  const text = filter.search ?? '';
  const isDivided = text !== '' && (behind === null || behind.part !== undefined);
  const byStart = isDivided ? await findPersonsByStart(sql, projectId, { text, most: mostByStart }) : null;
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

/** The first step of a walk. Each further one reads twice as many persons. */
const firstStep = 2000;

/** Reads persons by ID until the page is full, or until the time is over after at least one step. */
async function walkPersons(
  sql: Sql,
  { projectId, filter, window }: PersonList,
  { maxMs, without }: { maxMs: number; without?: readonly string[] },
): Promise<PersonPosition[] | StoppedSearch<PersonPosition>> {
  const deadline = performance.now() + maxMs;
  const keys: PersonPosition[] = [];
  let { behind } = window;
  for (let count = firstStep; ; count *= 2) {
    const startedAt = performance.now();
    const from = await idFurther(sql, projectId, { behind: behind?.id ?? null, count });
    const step = { ...window, behind, limit: window.limit - keys.length };
    const range = { ...(from !== null && { from }), ...(without !== undefined && { without }) };
    keys.push(...(await listPersonKeys(sql, { projectId, filter, window: step }, range)));
    if (from === null || keys.length >= window.limit) return keys;
    behind = { id: from };
    const now = performance.now();
    if (now + 2 * (now - startedAt) > deadline) return new StoppedSearch({ keys, end: behind });
  }
}
