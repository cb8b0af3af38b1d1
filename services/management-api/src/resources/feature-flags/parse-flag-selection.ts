import { AppError } from '@millrace/errors';
import { maxDeletedTogether } from './delete-flags.ts';
import { type FlagFilterValues, flagFilters } from './list-flags-query.ts';

/** Which flags a request is about: by their numbers, or by the filters of the list. @throws AppError `invalid`. */
export function parseFlagSelection(body: {
  ids?: unknown[];
  filters?: Record<string, unknown>;
}): { ids: unknown[] } | { filters: FlagFilterValues } {
  const { ids, filters } = body;
  if ((ids === undefined) === (filters === undefined)) throw refusal('Provide either ids or filters.', null);
  if (filters === undefined) {
    if (ids === undefined || ids.length === 0) throw refusal('No flag IDs provided', 'ids');
    if (ids.length > maxDeletedTogether) throw refusal(`Provide ${maxDeletedTogether} ids at most.`, 'ids');
    return { ids };
  }
  const unknown = Object.keys(filters).find((name) => !Object.hasOwn(flagFilters, name));
  if (unknown !== undefined) throw refusal(`Unknown filter: ${unknown.slice(0, 100)}`, 'filters');
  const given = Object.entries(filters).filter(([, value]) => value !== null);
  return { filters: Object.fromEntries(given.map(([name, value]) => [name, asText(value)])) };
}

/** As it would stand in the query of the list. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function refusal(detail: string, attr: string | null): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr });
}
