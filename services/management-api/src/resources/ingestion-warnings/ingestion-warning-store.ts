import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import type { TimePlace } from '../time-place.ts';

export interface IngestionWarningRow {
  id: string;
  type: string;
  severity: string;
  count: number;
  details: Record<string, unknown>;
  timestamp: Date;
}

/** Ingestion warnings of a project, the newest first, from behind `from` on. */
export async function listIngestionWarnings(
  sql: Sql,
  projectId: number,
  filter: { type?: string; after?: string; before?: string },
  { from, limit }: { from: TimePlace | null; limit: number },
): Promise<IngestionWarningRow[]> {
  const where = createConditions();
  where.add(`w.project_id = ${where.parameter(projectId)}`);
  if (filter.type !== undefined) where.add(`w.type = ${where.parameter(filter.type)}`);
  if (filter.after !== undefined) where.add(`w.timestamp > ${where.parameter(new Date(filter.after))}`);
  if (filter.before !== undefined) where.add(`w.timestamp < ${where.parameter(new Date(filter.before))}`);
  if (from !== null) {
    where.add(`(w.timestamp, w.id) < (${where.parameter(from.timestamp)}, ${where.parameter(from.id)})`);
  }
  return sql.query<IngestionWarningRow & Record<string, unknown>>(
    `SELECT w.id, w.type, w.severity, w.count, w.details, w.timestamp
       FROM ingestion_warning w
      WHERE ${where.text()}
      ORDER BY w.timestamp DESC, w.id DESC
      LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}
