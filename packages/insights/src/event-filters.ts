// Parses and checks event filters outside of queries, such as those of batch exports and lists of persons.

import type { Sql } from '@millrace/db';
import type { Condition } from './event-store/selection.ts';
import { type FilterContext, readFilters } from './plan/conditions.ts';
import { createClock } from './plan/dates.ts';
import { readProjectSettings } from './records-store.ts';
import { uncheckedExpression } from './sql/expressions.ts';

/**
 * Parses event filters outside of queries, such as those of a batch export. Person filters use the person properties
 * stored with the event.
 *
 * @param path name of the field that contains the filters, for errors.
 * @throws AppError `invalid` naming the filter.
 */
export async function readEventFilters(
  sql: Sql,
  { projectId, filters, path = 'filters', now }: FiltersToRead,
): Promise<Condition> {
  return readFilters(filters, path, await contextOf(sql, { projectId, now }));
}

/**
 * Checks event filters that queries will apply. They may contain SQL, which is checked when a query runs.
 * @throws AppError `invalid` naming the filter.
 */
export async function checkEventFilters(
  sql: Sql,
  { projectId, filters, path = 'filters', now }: FiltersToRead,
): Promise<void> {
  const context = await contextOf(sql, { projectId, now });
  readFilters(filters, path, { ...context, expression: uncheckedExpression });
}

interface FiltersToRead {
  projectId: number;
  filters: unknown;
  path?: string;
  /** Milliseconds since 1970. */
  now: number;
}

async function contextOf(sql: Sql, { projectId, now }: { projectId: number; now: number }): Promise<FilterContext> {
  const { timezone, weekStart, cohorts } = await readProjectSettings(sql, projectId);
  return { clock: createClock(timezone, weekStart, now), personsAsStored: true, cohorts };
}

/**
 * Parses filters of lists, which do not refer to cohorts.
 *
 * @param of what is listed: events, with current person properties or those stored with the event, or persons.
 * @throws AppError `invalid` naming the filter: `properties.0.value: …`.
 */
export function readPropertyFilters(
  filters: unknown,
  { timeZone, now, of }: { timeZone: string; now: number; of: 'events' | 'stored events' | 'persons' },
): Condition {
  return readFilters(filters, 'properties', {
    clock: createClock(timeZone, null, now),
    personsAsStored: of === 'stored events',
    showsPersons: of === 'events',
    isOfPersons: of === 'persons',
    cohorts: new Map(),
  });
}
