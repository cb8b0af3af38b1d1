import { randomUUID } from 'node:crypto';
import type { Sql } from '@millrace/db';

export async function storeExport(
  sql: Sql,
  environmentId: number,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const row: Record<string, unknown> = {
    id: randomUUID(),
    environment_id: environmentId,
    name: 'Warehouse',
    destination_type: 'Postgres',
    interval: 'hour',
    next_interval_start: '2026-11-10T10:00:00Z',
    next_interval_end: '2026-11-10T11:00:00Z',
    ...fields,
  };
  const names = Object.keys(row);
  await sql.query(
    `INSERT INTO batch_export (${names.map((name) => `"${name}"`).join(', ')})
     VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
  return String(row.id);
}

/** Stores `count` events, one per second from `from`. The events' own timestamps are a day earlier. */
export async function storeEvents(
  sql: Sql,
  environmentId: number,
  {
    count,
    from,
    event = 'page',
    properties = '{"n": 1}',
  }: { count: number; from: string; event?: string; properties?: string },
): Promise<void> {
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
     SELECT $1, '2010-01-01'::timestamptz + n * interval '1 second', gen_random_uuid(), $4, 'd' || n, gen_random_uuid(),
            $5::jsonb, now(), $3::timestamptz + n * interval '1 second'
       FROM generate_series(0, $2::int - 1) n`,
    [environmentId, count, from, event, properties],
  );
}
