import type { Sql } from '@millrace/db';
import type { Condition } from './event-store/port.ts';
import { readFilters } from './plan/conditions.ts';
import { clockOf } from './plan/dates.ts';
import { readSettings } from './records-store.ts';

/**
 * Parses event filters outside of queries, such as those of a batch export. Person filters use the person properties
 * stored with the event.
 *
 * @param path name of the field that contains the filters, for errors.
 * @throws AppError `invalid` naming the filter.
 */
export async function readEventFilters(
  sql: Sql,
  { projectId, filters, path = 'filters', now }: { projectId: number; filters: unknown; path?: string; now: number },
): Promise<Condition> {
  const { timezone, weekStart, cohorts } = await readSettings(sql, projectId);
  return readFilters(filters, path, { clock: clockOf(timezone, weekStart, now), personsAsStored: true, cohorts });
}
