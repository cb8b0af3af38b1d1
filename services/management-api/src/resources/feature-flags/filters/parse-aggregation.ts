import { brief, filterProblem } from './filter-problem.ts';

/** Null for the person, else the index of a group type. */
export function parseAggregation(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 4) return value;
  throw filterProblem(`${path}: must be the index of a group type (0 to 4) or null, not ${brief(value)}`);
}
