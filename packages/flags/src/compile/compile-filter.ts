// Prepares one filter from a flag's or cohort's condition for evaluation.

import { isObject, parseRecordId } from '@millrace/contracts';
import { readCohortFilterId } from '../filters/named-cohort.ts';
import { compileTest } from '../filters/operators.ts';
import { never, type TestOptions } from '../filters/value-operators.ts';
import type { CohortFilter, CompiledFilter, PropertyFilter } from './compiled.ts';

/**
 * Compiles one filter of a condition, except cohort filters (see `compileCohortFilter`).
 * @param aggregation the condition's group type, which applies to group filters without a group type
 */
export function compileFilter(
  filter: Record<string, unknown>,
  aggregation: number | null,
  options: TestOptions,
): CompiledFilter {
  switch (filter.type ?? 'person') {
    case 'person':
      return compilePropertyFilter(filter, null, options);
    case 'group': {
      const groupType = parseGroupTypeIndex(filter.group_type_index) ?? aggregation;
      return groupType === null ? { kind: 'never' } : compilePropertyFilter(filter, groupType, options);
    }
    case 'flag':
      return aggregation === null ? compileFlagFilter(filter) : { kind: 'never' };
    default:
      return { kind: 'never' };
  }
}

export function compilePropertyFilter(
  { key, operator, value }: Record<string, unknown>,
  groupType: number | null,
  options: TestOptions,
): PropertyFilter {
  if (typeof key !== 'string') return { kind: 'property', key: '', groupType, compiled: never };
  return { kind: 'property', key, groupType, compiled: compileTest(operator, value, options) };
}

function compileFlagFilter({ key, operator, value }: Record<string, unknown>): CompiledFilter {
  const flagId = parseRecordId(key);
  if (flagId === undefined || operator !== 'flag_evaluates_to') return { kind: 'never' };
  return typeof value === 'boolean' || typeof value === 'string'
    ? { kind: 'flag', flagId, expected: value }
    : { kind: 'never' };
}

/** Compiles a cohort filter. Returns null if the filter can never match, regardless of the cohort's members. */
export function compileCohortFilter({ type, value, operator }: Record<string, unknown>): CohortFilter | null {
  const cohortId = readCohortFilterId({ type, value });
  const operatorName = operator ?? 'in';
  if (cohortId === undefined || (operatorName !== 'in' && operatorName !== 'not_in')) return null;
  return { cohortId, isMember: operatorName === 'in' };
}

export function parseGroupTypeIndex(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

/** Returns the elements of a list that are objects. Used to ignore malformed filters, conditions and variants. */
export function selectObjects(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
