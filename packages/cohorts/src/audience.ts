import type { Sql } from '@millrace/db';
import { compileDefinitions, loadDefinitions } from '@millrace/flag-store';
import {
  type CompiledFlags,
  type EvaluationContext,
  evaluateCohorts,
  evaluateFlags,
  flagValue,
  selectFlags,
} from '@millrace/flags';
import type { StoredPerson } from './person-page-store.ts';

/** Who belongs to something, as it was defined when this was made. */
export interface Audience {
  /** For each thing that was asked for, in its order. What nobody can say (a part is missing, or leads in a loop) is null. */
  of(person: StoredPerson, now: number): (boolean | null)[];
}

/** Those who belong to some cohorts. The rules of flags' own filters decide, so that counting and asking never differ. */
export async function cohortAudience(sql: Sql, projectId: number, cohortIds: readonly number[]): Promise<Audience> {
  const flags = await compiled(sql, projectId);
  return {
    of: (person, now) =>
      evaluateCohorts(flags, cohortIds, contextOf(person, now)).map((outcome) =>
        typeof outcome === 'boolean' ? outcome : null,
      ),
  };
}

/** Those for whom a flag is on, by their main distinct id and without groups. */
export async function flagAudience(sql: Sql, projectId: number, flagId: number): Promise<Audience> {
  return audienceOf(await compiled(sql, projectId), flagId);
}

function audienceOf(flags: CompiledFlags, flagId: number): Audience {
  const flag = flags.inOrder.find(({ id }) => id === flagId);
  const selected = flag === undefined ? [] : selectFlags(flags, { keys: [flag.key] });
  return {
    of(person, now) {
      const { results } = evaluateFlags(flags, selected, contextOf(person, now));
      const result = results.find(({ key }) => key === flag?.key);
      if (result === undefined) return [false];
      return [result.failure === null ? flagValue(result) !== false : null];
    },
  };
}

/** Those for whom a flag with these filters would be on, were it there. */
export async function filtersAudience(sql: Sql, projectId: number, filters: unknown): Promise<Audience> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project is gone.');
  // No key of a flag has a dot in it, and no flag the number 0.
  const asked = { id: 0, key: '.', name: '', version: 0, active: true, filters };
  const flag = { ...asked, has_encrypted_payloads: null, evaluation_contexts: [] };
  return audienceOf(await compileDefinitions({ ...definitions, flags: [...definitions.flags, flag] }), flag.id);
}

async function compiled(sql: Sql, projectId: number): Promise<CompiledFlags> {
  const definitions = await loadDefinitions(sql, projectId);
  if (definitions === null) throw new Error('The project is gone.');
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
