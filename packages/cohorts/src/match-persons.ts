import type { Sql } from '@millrace/db';
import { inTimeSlices } from '@millrace/flag-store';
import type { Steps } from '@millrace/flags';
import type { Audience } from './audience.ts';
import { readPersonPage, type StoredPerson } from './person-page-store.ts';

const portion = 500;

/** A page of persons, each with what the audience says. */
export interface MatchedPerson {
  uuid: string;
  /** The id under which it is found when it was merged into another one meanwhile. */
  distinctId: string;
  matches: (boolean | null)[];
}

/**
 * All persons of a project by uuid, each asked whether it belongs. Each page is a statement of its own: no transaction stays
 * open, and memory holds one page. Persons that come meanwhile may be met or not. However much an audience asks of a person,
 * others are served in between.
 */
export async function* matchPersons(
  sql: Sql,
  projectId: number,
  { audience, after = null }: { audience: Audience; after?: string | null },
): AsyncGenerator<MatchedPerson[]> {
  for (let last = after; ; ) {
    const page = await readPersonPage(sql, projectId, { after: last, limit: portion });
    if (page.length === 0) return;
    yield await inTimeSlices(matchPage(audience, page, Date.now()));
    last = page.at(-1)?.uuid ?? null;
  }
}

function* matchPage(audience: Audience, page: StoredPerson[], now: number): Steps<MatchedPerson[]> {
  const matched: MatchedPerson[] = [];
  for (const person of page) {
    matched.push({ uuid: person.uuid, distinctId: person.main_distinct_id, matches: audience.of(person, now) });
    yield;
  }
  return matched;
}
