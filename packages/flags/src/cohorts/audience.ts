// Finds the persons who belong to a cohort or for whom a flag is on.

import type { Sql } from '@millrace/db';
import type { CompiledFlags } from '../compile/compiled.ts';
import { evaluateCohortsInSteps } from '../evaluate/conditions.ts';
import type { EvaluationContext } from '../evaluate/context.ts';
import { evaluateFlagsInSteps } from '../evaluate/evaluate-flags.ts';
import { toFlagValue } from '../evaluate/flag-result.ts';
import { selectFlags } from '../evaluate/select-flags.ts';
import { runInTimeSlices, type Steps } from '../steps.ts';
import { compileDefinitions, loadDefinitions } from '../store/definitions.ts';
import { type EvaluatedPerson, readPersonPage, readStoredPerson, type StoredPerson } from './store.ts';

/**
 * Determines which persons belong to cohorts, or for which persons a flag is on. Always uses the definitions that
 * applied when the audience was created.
 */
export interface Audience {
  /**
   * Returns one outcome per requested cohort or flag, in order. An outcome is null if it cannot be determined because a
   * dependency is missing or circular. A person whose evaluation takes too long does not count as a member, so that all
   * other persons can still be counted.
   */
  of(person: StoredPerson, now: number): Steps<(boolean | null)[]>;
}

/**
 * Creates an audience of cohort members. Evaluates cohorts with the rules of flag filters, so that member counts always
 * agree with flag evaluation.
 */
export async function createCohortAudience(
  sql: Sql,
  projectId: number,
  cohortIds: readonly number[],
): Promise<Audience> {
  const flags = await loadCompiledFlags(sql, projectId);
  return { of: (person, now) => evaluateMembership(flags, { cohortIds, person, now }) };
}

export function* evaluateMembership(
  flags: CompiledFlags,
  { cohortIds, person, now }: { cohortIds: readonly number[]; person: EvaluatedPerson; now: number },
): Steps<(boolean | null)[]> {
  const outcomes = yield* evaluateCohortsInSteps(flags, cohortIds, contextOf(person, now));
  return outcomes.map((outcome) => (typeof outcome === 'boolean' ? outcome : outcome === 'timeout' ? false : null));
}

/** Returns which of the cohorts a person currently belongs to. A deleted person does not belong to any cohort. */
export async function findCohortsOfPerson(
  sql: Sql,
  projectId: number,
  { personUuid, cohortIds }: { personUuid: string; cohortIds: readonly number[] },
): Promise<number[]> {
  const person = await readStoredPerson(sql, projectId, personUuid);
  if (person === undefined) return [];
  const audience = await createCohortAudience(sql, projectId, cohortIds);
  const matches = await runInTimeSlices(audience.of(person, Date.now()));
  return cohortIds.filter((_, at) => matches[at] === true);
}

/**
 * Creates an audience of the persons for whom a flag is on. Evaluates the flag with each person's main distinct ID and
 * without groups.
 */
export async function createFlagAudience(sql: Sql, projectId: number, flagId: number): Promise<Audience> {
  return audienceOf(await loadCompiledFlags(sql, projectId), flagId);
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
      return [result.failure === null ? toFlagValue(result) !== false : null];
    },
  };
}

/** Creates an audience of the persons for whom a flag with these filters would be on. */
export async function createFiltersAudience(sql: Sql, projectId: number, filters: unknown): Promise<Audience> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project has been deleted.');
  // The ID and the key cannot conflict with a stored flag, because stored keys contain no dots and stored IDs are
  // positive.
  const preview = { id: 0, key: '.', name: '', version: 0, active: true, filters };
  const flag = { ...preview, has_encrypted_payloads: null, evaluation_contexts: [] };
  return audienceOf(await compileDefinitions({ ...definitions, flags: [...definitions.flags, flag] }), flag.id);
}

export async function loadCompiledFlags(sql: Sql, projectId: number): Promise<CompiledFlags> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project has been deleted.');
  return compileDefinitions(definitions);
}

function contextOf(person: EvaluatedPerson, now: number): EvaluationContext {
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
/** Approximate time limit in milliseconds for evaluating a page. Callers wait until the page is complete. */
const pageMs = 250;

/**
 * Chooses the size of the next page. Halves it if evaluating a page took too long, or if the requested rows did not fit
 * into a page, because PostgreSQL reads all of the requested rows.
 */
export function createPageSizer() {
  let limit = 50;
  let startedAt = performance.now();
  return {
    next(): number {
      startedAt = performance.now();
      return limit;
    },
    /**
     * Records how many persons a page contained, and adjusts the size of the next page.
     * @param read the number of persons in the page
     * @param requested the maximum number of persons in the page, if it differs from the last result of `next`
     */
    note(read: number, requested = limit): void {
      const isQuick = read === requested && performance.now() - startedAt < pageMs;
      limit = isQuick ? Math.min(largestPage, limit * 2) : Math.max(smallestPage, Math.floor(limit / 2));
    },
  };
}

interface MatchedPerson {
  uuid: string;
  /** One of the person's distinct IDs, which still finds the person after a merge. */
  distinctId: string;
  matches: (boolean | null)[];
}

/**
 * Evaluates all persons of a project page by page, in the order of their UUIDs. Each page is a separate statement, so
 * no transaction stays open and memory holds only one page. Persons created in the meantime may or may not be included.
 * The evaluation yields regularly, so that other work can run.
 */
export async function* matchPersons(
  sql: Sql,
  projectId: number,
  { audience, after = null }: { audience: Audience; after?: string | null },
): AsyncGenerator<MatchedPerson[]> {
  const pageLimit = createPageSizer();
  const read = async (last: string | null) => {
    const limit = pageLimit.next();
    return { limit, persons: await readPersonPage(sql, projectId, { after: last, limit }) };
  };
  for (let page = await read(after); page.persons.length > 0; ) {
    const { persons, limit } = page;
    // PostgreSQL reads the next page while this process evaluates the current page.
    const next = read(persons.at(-1)?.uuid ?? null);
    // Prevent an unhandled rejection in case the caller does not request the next page.
    next.catch(() => {});
    const matched = await runInTimeSlices(matchPage(audience, persons, Date.now()));
    pageLimit.note(persons.length, limit);
    yield matched;
    page = await next;
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
