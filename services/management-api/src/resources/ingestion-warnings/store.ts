import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { type Paged, pageWithinBytes } from '../../sql/page-within-bytes.ts';
import type { TimePosition, TimeRange, TimeSpan } from '../../time/time-range.ts';

interface IngestionWarningRow extends Columns<'ingestion_warning', 'id' | 'type' | 'severity' | 'count' | 'timestamp'> {
  details: Record<string, unknown>;
}

/** One page of a project's ingestion warnings, the newest first, from behind `from` on. */
export async function listIngestionWarnings(
  sql: Sql,
  projectId: number,
  filter: TimeRange & { type?: string },
  { from, limit, maxBytes }: { from: TimePosition | null; limit: number; maxBytes: number },
): Promise<Paged<IngestionWarningRow>[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`w.project_id = ${project}`);
  if (filter.type !== undefined) where.add(`w.type = ${where.parameter(filter.type)}`);
  if (filter.after !== undefined) where.add(`w.timestamp > ${where.parameter(filter.after)}`);
  if (filter.before !== undefined) where.add(`w.timestamp < ${where.parameter(filter.before)}`);
  if (from !== null) {
    where.add(`(w.timestamp, w.id) < (${where.parameter(from.timestamp)}, ${where.parameter(from.id)})`);
  }
  const size = where.parameter(limit);
  const text = pageWithinBytes({
    keys: `SELECT w.id FROM ingestion_warning w WHERE ${where.text()}
            ORDER BY w.timestamp DESC, w.id DESC LIMIT ${size}::int + 1`,
    keyColumns: ['id'],
    row: (key) => `FROM ingestion_warning w WHERE w.project_id = ${project} AND w.id = ${key('id')}`,
    columns: 'w.id, w.type, w.severity, w.count, w.details, w.timestamp',
    bytes: 'octet_length(w.details::text) + 300',
    limit: size,
    maxBytes: where.parameter(maxBytes),
    isUsual: true,
  });
  return sql.query<Paged<IngestionWarningRow> & Record<string, unknown>>(text, where.values);
}

/** The warnings of one type in one hour. */
export interface HourOfWarnings {
  type: string;
  severity: string;
  hour: Date;
  /** Of the events they stand for. */
  count: number;
  first_at: Date;
  last_at: Date;
}

/** A project's warnings by type, severity and hour of its clocks, hours in their order. Reads no details. */
export async function countIngestionWarnings(
  sql: Sql,
  projectId: number,
  { after, before, timeZone }: TimeSpan & { timeZone: string },
): Promise<HourOfWarnings[]> {
  return sql.query<HourOfWarnings & Record<string, unknown>>(
    `SELECT w.type, w.severity, date_trunc('hour', w.timestamp, $4::text) AS hour, sum(w.count)::float8 AS count,
            min(w.timestamp) AS first_at, max(w.timestamp) AS last_at
       FROM ingestion_warning w
      WHERE w.project_id = $1::int AND w.timestamp > $2 AND w.timestamp < $3
      GROUP BY w.type, w.severity, 3
      ORDER BY w.type, w.severity, 3`,
    [projectId, after, before, timeZone],
  );
}
