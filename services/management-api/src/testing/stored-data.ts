import { randomUUID } from 'node:crypto';
import type { Sql } from '@millrace/db';

/** Creates the table partitions for the months from `first` to `last`, inclusive. Months have the format `2026-01`. */
export async function createMonths(sql: Sql, first: string, last: string): Promise<void> {
  for (let month = new Date(`${first}-01T00:00:00Z`); month <= new Date(`${last}-01T00:00:00Z`); ) {
    const next = new Date(month);
    next.setUTCMonth(next.getUTCMonth() + 1);
    const name = `event_${month.toISOString().slice(0, 7).replace('-', '_')}`;
    await sql.query(
      `CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF event
         FOR VALUES FROM ('${month.toISOString()}') TO ('${next.toISOString()}')`,
    );
    month = next;
  }
}

export interface StoredEvent {
  uuid?: string;
  event?: string;
  distinctId?: string;
  timestamp?: string;
  personId?: string;
  personProperties?: Record<string, unknown>;
  properties?: Record<string, unknown>;
  elementsChain?: string;
}

/** Stores an event. By default, the event's person is the one with the event's distinct ID. @returns the event UUID */
export async function storeEvent(sql: Sql, projectId: number, event: StoredEvent = {}): Promise<string> {
  const uuid = event.uuid ?? randomUUID();
  const timestamp = event.timestamp ?? '2026-11-10T12:00:00Z';
  await sql.query(
    'INSERT INTO event_identity (project_id, uuid, timestamp) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [projectId, uuid, timestamp],
  );
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, properties,
                        elements_chain, captured_at)
     VALUES ($1, $2, $3, $4, $5,
             coalesce($6, (SELECT person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = $5), gen_random_uuid()),
             $7, $8, $9, now())`,
    [
      projectId,
      timestamp,
      uuid,
      event.event ?? 'test event',
      event.distinctId ?? 'someone',
      event.personId ?? null,
      event.personProperties ?? {},
      event.properties ?? {},
      event.elementsChain ?? '',
    ],
  );
  return uuid;
}

export interface StoredPerson {
  uuid?: string;
  /** The first ID is the main distinct ID, unless `main` specifies another. */
  distinctIds: string[];
  main?: string;
  properties?: Record<string, unknown>;
  isIdentified?: boolean;
  createdAt?: string;
}

/** @returns the person's UUID */
export async function storePerson(sql: Sql, projectId: number, person: StoredPerson): Promise<string> {
  const uuid = person.uuid ?? randomUUID();
  await sql.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      projectId,
      uuid,
      person.main ?? person.distinctIds[0],
      person.properties ?? {},
      person.isIdentified ?? false,
      person.createdAt ?? '2026-11-01T00:00:00Z',
    ],
  );
  await sql.query(
    'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, unnest($2::text[]), $3',
    [projectId, person.distinctIds, uuid],
  );
  return uuid;
}

export async function storeGroup(
  sql: Sql,
  projectId: number,
  group: { type: string; index: number; key: string; properties?: Record<string, unknown> },
): Promise<void> {
  await sql.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at)
     VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`,
    [projectId, group.type, group.index],
  );
  await sql.query(
    `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at)
     VALUES ($1, $2, $3, $4, '2026-11-01T00:00:00Z')`,
    [projectId, group.index, group.key, group.properties ?? {}],
  );
}

/** @returns the warning's ID */
export async function storeWarning(
  sql: Sql,
  projectId: number,
  warning: { type?: string; severity?: string; count?: number; details?: Record<string, unknown>; timestamp?: string },
): Promise<string> {
  const id = randomUUID();
  await sql.query(
    `INSERT INTO ingestion_warning (project_id, id, type, severity, details, count, timestamp)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      projectId,
      id,
      warning.type ?? 'missing_distinct_id',
      warning.severity ?? 'error',
      warning.details ?? {},
      warning.count ?? 1,
      warning.timestamp ?? '2026-11-10T12:00:00Z',
    ],
  );
  return id;
}
