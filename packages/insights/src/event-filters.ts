// Parses and checks event filters that are not part of a query, such as those of batch exports and person lists.

import type { Sql } from '@millrace/db';
import type { Condition } from './event-store/selection.ts';
import { readFilters } from './plan/conditions.ts';
import { createClock } from './plan/dates.ts';
import { readProjectSettings } from './records-store.ts';

/**
 * Parses event filters that are not part of a query, such as those of a batch export. Person filters test the person
 * properties stored with the event.
 * @param now the current time in milliseconds since 1970
 * @throws AppError `invalid` that names the filter
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
 * Parses the property filters of a list. These filters cannot refer to cohorts.
 * @param of what the list contains: persons, events with their current person, or events with the person properties
 * stored with them
 * @throws AppError `invalid` that names the filter, for example `properties.0.value: …`
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
