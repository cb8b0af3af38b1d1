import type { Sql } from '@millrace/db';
import { columns, type EventRow } from './event-store.ts';

/** One event. Its identity knows its time, so one month is looked into and there by its primary key. */
export async function readEvent(sql: Sql, projectId: number, uuid: string): Promise<EventRow | undefined> {
  const rows = await sql.query<EventRow & Record<string, unknown>>(
    `SELECT ${columns}
       FROM event_identity i
      CROSS JOIN LATERAL (SELECT * FROM event e
                           WHERE e.project_id = i.project_id AND e.timestamp = i.timestamp AND e.uuid = i.uuid LIMIT 1) AS e
      WHERE i.project_id = $1::int AND i.uuid = $2::uuid`,
    [projectId, uuid],
  );
  return rows[0];
}
