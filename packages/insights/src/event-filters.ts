// Parses and checks event filters outside of queries, such as those of batch exports and lists of persons.

import type { Sql } from '@millrace/db';
import type { Condition } from './event-store/selection.ts';
import { readFilters } from './plan/conditions.ts';
import { createClock } from './plan/dates.ts';
import { readProjectSettings } from './records-store.ts';

/**
 * Parses event filters outside of queries, such as those of a batch export. Person filters use the person properties
 * stored with the event.
 *
 * @param now milliseconds since 1970.
 * @throws AppError `invalid` naming the filter.
 */
export async function readEventFilters(
  sql: Sql,
  { projectId, filters, now }: { projectId: number; filters: unknown; now: number },
): Promise<Condition> {
  const { timezone, weekStart, cohorts } = await readProjectSettings(sql, projectId);
  return readFilters(filters, 'filters', {
    clock: createClock(timezone, weekStart, now),
    personsAsStored: true,
    cohorts,
  });
}

/**
 * Parses filters of lists, which do not refer to cohorts.
 * @param of what the list contains: persons, or events with either the current person properties or the stored ones.
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
