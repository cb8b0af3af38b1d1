// SQL that lists and counts ingestion warnings, which report rejected or changed events.

import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { createLargeRowReader, type KeyWindow, toLimitClause } from '../../sql/large-page.ts';
import type { TimePosition, TimeRange, TimeSpan } from '../../time/time-range.ts';

interface IngestionWarningRow extends Columns<'ingestion_warning', 'id' | 'type' | 'severity' | 'count' | 'timestamp'> {
  details: Record<string, unknown>;
}

/** Finds the warnings on a page of a project's list, newest first. */
export async function findWarningKeys(
  sql: Sql,
  projectId: number,
  filter: TimeRange & { type?: string | undefined; severity?: string | undefined },
  { behind, limit, offset }: KeyWindow<TimePosition>,
): Promise<TimePosition[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`w.project_id = ${project}`);
  if (filter.type !== undefined) where.add(`w.type = ${where.parameter(filter.type)}`);
  if (filter.severity !== undefined) where.add(`w.severity = ${where.parameter(filter.severity)}`);
  if (filter.after !== undefined) where.add(`w.timestamp > ${where.parameter(filter.after)}`);
  if (filter.before !== undefined) where.add(`w.timestamp < ${where.parameter(filter.before)}`);
  if (behind !== null) {
    where.add(`(w.timestamp, w.id) < (${where.parameter(behind.timestamp)}, ${where.parameter(behind.id)})`);
  }
  const page = toLimitClause({ limit, offset }, where.parameter);
  return sql.query<TimePosition & Record<string, unknown>>(
    `SELECT w.timestamp, w.id FROM ingestion_warning w
      WHERE ${where.text()} ORDER BY w.timestamp DESC, w.id DESC ${page}`,
    where.values,
  );
}

export const readWarnings = createLargeRowReader<TimePosition, IngestionWarningRow>({
  key: { id: 'uuid' },
  row: (of) => `FROM ingestion_warning w WHERE w.project_id = $1::int AND w.id = ${of('id')}`,
  columns: 'w.id, w.type, w.severity, w.count, w.details, w.timestamp',
  bytes: 'octet_length(w.details::text) + 300',
});

export const intervals = ['minute', 'hour'] as const;

/** Warnings of the same type within a minute or an hour. */
export interface WarningsOfInterval {
  type: string;
  severity: string;
  start: Date;
  count: number;
  first_at: Date;
  last_at: Date;
}

interface CountFilter extends TimeSpan {
  type?: string | undefined;
  severity?: string | undefined;
  interval: (typeof intervals)[number];
  timeZone: string;
}

/**
 * Counts a project's warnings by type, severity, and minute or hour in the project's time zone, and sorts them in that
 * order. Does not read the details.
 */
export async function countIngestionWarnings(
  sql: Sql,
  projectId: number,
  { after, before, type, severity, interval, timeZone }: CountFilter,
): Promise<WarningsOfInterval[]> {
  return sql.query<WarningsOfInterval & Record<string, unknown>>(
    `SELECT w.type, w.severity, date_trunc($5, w.timestamp, $4::text) AS start, sum(w.count)::float8 AS count,
            min(w.timestamp) AS first_at, max(w.timestamp) AS last_at
       FROM ingestion_warning w
      WHERE w.project_id = $1::int AND w.timestamp > $2 AND w.timestamp < $3
        AND ($6::text IS NULL OR w.type = $6) AND ($7::text IS NULL OR w.severity = $7)
      GROUP BY w.type, w.severity, 3
      ORDER BY w.type, w.severity, 3`,
    [projectId, after, before, timeZone, interval, type ?? null, severity ?? null],
  );
}
