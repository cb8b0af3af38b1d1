// The filters of queries, cohorts and flags, in the format in which the console edits and displays them.

import { formatPropertyName } from '../parts/properties.ts';
import { text } from './words.ts';

export interface Filter extends Record<string, unknown> {
  type: 'event' | 'event_metadata' | 'person' | 'group' | 'cohort' | 'flag';
  key: string;
  operator?: string | null;
  value?: unknown;
  cohort_name?: string;
}

/** Operators that accept a list of values. A filter matches if any value in its list matches. */
export const listOperators = new Set(['exact', 'is_not', 'icontains_multi', 'not_icontains_multi']);
export const valuelessOperators = new Set(['is_set', 'is_not_set']);

/** Key of a filter on the event name. The type of the filter is `event_metadata`. */
export const eventNameKey = 'event';

export const createFilter = (type: Exclude<Filter['type'], 'flag'>, more: Record<string, unknown> = {}): Filter =>
  type === 'cohort'
    ? { type, key: 'id', operator: 'in', value: null }
    : { type, key: type === 'event_metadata' ? eventNameKey : '', operator: 'exact', value: [], ...more };

/** Returns whether the filter has a key, and a value if its operator requires a value. */
export function isComplete({ type, key, operator, value }: Filter): boolean {
  if (type === 'cohort') return typeof value === 'number';
  if (key.trim() === '') return false;
  if (valuelessOperators.has(operator ?? '')) return true;
  return Array.isArray(value) ? value.length > 0 && !value.includes('') : value !== '' && value !== null;
}

/** Describes a filter in words, for example as `plan is pro or team` or `in cohort Buyers`. */
export function describePropertyFilter({ type, key, operator, value, cohort_name: cohort }: Filter): string {
  if (type === 'cohort')
    return text.line('', operator === 'not_in' ? text.notInCohort : text.inCohort, cohort ?? formatFilterValue(value));
  const name = type === 'event_metadata' && key === eventNameKey ? text.eventName : formatPropertyName(key);
  return text.line(name, relationOf(operator), valuelessOperators.has(operator ?? '') ? '' : valuesText(value));
}

const relationOf = (operator: string | null | undefined): string =>
  (text.operators as Record<string, string>)[operator ?? 'exact'] ?? String(operator);

const valuesText = (value: unknown): string =>
  Array.isArray(value) ? value.map(formatFilterValue).join(text.or) : formatFilterValue(value);

export const formatFilterValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
