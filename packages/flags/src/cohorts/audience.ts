import type { Sql } from '@millrace/db';
import type { CompiledFlags } from '../compile/compiled.ts';
import { evaluateCohortsInSteps } from '../evaluate/conditions.ts';
import type { EvaluationContext } from '../evaluate/context.ts';
import { evaluateFlagsInSteps } from '../evaluate/evaluate-flags.ts';
import { flagValue } from '../evaluate/flag-result.ts';
import { selectFlags } from '../evaluate/select-flags.ts';
import { inTimeSlices, type Steps } from '../steps.ts';
import { compileDefinitions, loadDefinitions } from '../store/definitions.ts';
import { readPersonPage, readStoredPerson, type StoredPerson } from './store.ts';

/** Who belongs to something, as it was defined when this was made. */
export interface Audience {
  /**
   * For each thing that was asked for, in its order. What nobody can say (a part is missing, or leads in a loop) is null. Of
   * whom it would take too long to say it, that person does not belong: others do not go uncounted for one.
   */
  of(person: StoredPerson, now: number): Steps<(boolean | null)[]>;
}

/** Those who belong to some cohorts. The rules of flags' own filters decide, so that counting and asking never differ. */
export async function cohortAudience(sql: Sql, projectId: number, cohortIds: readonly number[]): Promise<Audience> {
  const flags = await compiled(sql, projectId);
  return {
    *of(person, now) {
      const outcomes = yield* evaluateCohortsInSteps(flags, cohortIds, contextOf(person, now));
      return outcomes.map((outcome) => (typeof outcome === 'boolean' ? outcome : outcome === 'timeout' ? false : null));
    },
  };
}

/** Those of some cohorts that a person belongs to now; none for a person who is gone. */
export async function cohortsOfPerson(
  sql: Sql,
  projectId: number,
  { personUuid, cohortIds }: { personUuid: string; cohortIds: readonly number[] },
): Promise<number[]> {
  const person = await readStoredPerson(sql, projectId, personUuid);
  if (person === undefined) return [];
  const audience = await cohortAudience(sql, projectId, cohortIds);
  const matches = await inTimeSlices(audience.of(person, Date.now()));
  return cohortIds.filter((_, at) => matches[at] === true);
}

/** Those for whom a flag is on, by their main distinct id and without groups. */
export async function flagAudience(sql: Sql, projectId: number, flagId: number): Promise<Audience> {
  return audienceOf(await compiled(sql, projectId), flagId);
}

function audienceOf(flags: CompiledFlags, flagId: number): Audience {
  const flag = flags.inOrder.find(({ id }) => id === flagId);
  const selected = flag === undefined ? [] : selectFlags(flags, { keys: [flag.key] });
  return {
    *of(person, now) {
      const { results } = yield* evaluateFlagsInSteps(flags, selected, contextOf(person, now));
      const result = results.find(({ key }) => key === flag?.key);
      if (result === undefined) return [false];
      if (result.failure === 'timeout') return [false];
      return [result.failure === null ? flagValue(result) !== false : null];
    },
  };
}

/** Those for whom a flag with these filters would be on, were it there. */
export async function filtersAudience(sql: Sql, projectId: number, filters: unknown): Promise<Audience> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project has been deleted.');
  // No key of a flag has a dot in it, and no flag the number 0.
  const asked = { id: 0, key: '.', name: '', version: 0, active: true, filters };
  const flag = { ...asked, has_encrypted_payloads: null, evaluation_contexts: [] };
  return audienceOf(await compileDefinitions({ ...definitions, flags: [...definitions.flags, flag] }), flag.id);
}

async function compiled(sql: Sql, projectId: number): Promise<CompiledFlags> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project has been deleted.');
  return compileDefinitions(definitions);
}

function contextOf(person: StoredPerson, now: number): EvaluationContext {
  return {
    distinctId: person.main_distinct_id,
    groups: {},
    personProperties: {},
    groupProperties: {},
    stored: {
      personProperties: person.properties,
      groupProperties: new Map(),
      staticCohorts: new Set(person.static_cohort_ids),
      hashKeyOverrides: new Map(Object.entries(person.hash_keys)),
    },
    now,
  };
}

const smallestPage = 10;
const largestPage = 500;
/** Who waits for the end of a page waits about this long. */
const pageMs = 250;

/**
 * How many to read for the next page. PostgreSQL unpacks all that it is asked for, also what is too large for the page, and a
 * page may take long to look at: the next one is half as large then.
 */
export function createPageLimit() {
  let limit = 50;
  let startedAt = performance.now();
  return {
    next(): number {
      startedAt = performance.now();
      return limit;
    },
    /** @param read how many the page had. */
    note(read: number): void {
      const isQuick = read === limit && performance.now() - startedAt < pageMs;
      limit = isQuick ? Math.min(largestPage, limit * 2) : Math.max(smallestPage, Math.floor(limit / 2));
    },
  };
}

/** A page of persons, each with what the audience says. */
interface MatchedPerson {
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
  const pageLimit = createPageLimit();
  for (let last = after; ; ) {
    const page = await readPersonPage(sql, projectId, { after: last, limit: pageLimit.next() });
    if (page.length === 0) return;
    const matched = await inTimeSlices(matchPage(audience, page, Date.now()));
    pageLimit.note(page.length);
    yield matched;
    last = page.at(-1)?.uuid ?? null;
  }
}

function* matchPage(audience: Audience, page: StoredPerson[], now: number): Steps<MatchedPerson[]> {
  const matched: MatchedPerson[] = [];
  for (const person of page) {
    matched.push({ uuid: person.uuid, distinctId: person.main_distinct_id, matches: yield* audience.of(person, now) });
    yield;
  }
  return matched;
}
