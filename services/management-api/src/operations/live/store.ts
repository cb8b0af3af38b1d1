// SQL for live event streams. It reads warnings, settings, access and the number of active users.

import { keyIsLive, sessionIsLive } from '@millrace/accounts/access';
import type { Columns, Sql } from '@millrace/db';

export interface DropRow extends Columns<'ingestion_warning', 'id' | 'type' | 'severity' | 'count' | 'timestamp'> {
  project_id: number;
  details: Record<string, unknown>;
  stored_at: Date;
}

/** Returns the database's current time. Rows that are stored after this call have a later time. */
export async function readClock(sql: Sql): Promise<Date> {
  const [row] = await sql.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return row?.now ?? new Date();
}

/** Lists the warnings of these environments that were stored after a given time, in the order of storage. */
export async function listDroppedEvents(
  sql: Sql,
  { projectIds, after, limit }: { projectIds: number[]; after: Date; limit: number },
): Promise<DropRow[]> {
  return sql.query<DropRow & Record<string, unknown>>(
    `SELECT w.project_id, w.id, w.type, w.severity, w.count, w.details, w.timestamp, w.stored_at
       FROM ingestion_warning w WHERE w.project_id = ANY ($1::int[]) AND w.stored_at > $2
      ORDER BY w.stored_at, w.id LIMIT $3`,
    [projectIds, after, limit],
  );
}

/** Returns an environment's settings that affect a stream, or undefined if the environment was deleted. */
export async function findStreamSettings(
  sql: Sql,
  environmentId: number,
): Promise<{ api_token: string; test_account_filters: unknown; timezone: string } | undefined> {
  const rows = await sql.query<{ api_token: string; test_account_filters: unknown; timezone: string }>(
    'SELECT api_token, test_account_filters, timezone FROM environment WHERE id = $1',
    [environmentId],
  );
  return rows[0];
}

interface CheckedAccess {
  userId: number;
  environmentId: number;
  credential: { kind: 'key' | 'session'; id: string };
}

/**
 * Finds the indexes of the streams whose session, key or membership has ended. Uses a single statement for any number
 * of streams. Does not check whether access ended for other reasons, such as access rules, scopes or a new project API
 * key.
 */
export async function findEndedStreams(sql: Sql, accesses: readonly CheckedAccess[]): Promise<ReadonlySet<number>> {
  const rows = await sql.query<{ place: number }>(
    `SELECT (r.place - 1)::int AS place
       FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) WITH ORDINALITY AS r (kind, id, user_id, environment_id, place)
      WHERE NOT EXISTS (SELECT FROM environment e
                          JOIN project p ON p.id = e.project_id
                          JOIN membership m ON m.organization_id = p.organization_id AND m.user_id = r.user_id
                         WHERE e.id = r.environment_id)
         OR NOT CASE r.kind
              WHEN 'session' THEN EXISTS (SELECT FROM session s JOIN "user" u ON u.id = s.user_id
                                           WHERE s.id = r.id::uuid AND ${sessionIsLive})
              ELSE EXISTS (SELECT FROM personal_api_key k JOIN "user" u ON u.id = k.user_id WHERE k.id = r.id AND ${keyIsLive})
            END`,
    [
      accesses.map(({ credential }) => credential.kind),
      accesses.map(({ credential }) => credential.id),
      accesses.map(({ userId }) => userId),
      accesses.map(({ environmentId }) => environmentId),
    ],
  );
  return new Set(rows.map(({ place }) => place));
}

/** Maximum number of rows to read for counting active users. Reading more would take too long. */
const maxRows = 200_000;

/**
 * Counts the distinct IDs whose events arrived within the given number of seconds. Ignores events that arrived a minute
 * late or in an import, because they do not show current activity.
 */
export async function countActiveUsers(sql: Sql, environmentId: number, seconds: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `SELECT count(DISTINCT distinct_id)::int AS count
       FROM (SELECT distinct_id, captured_at, historical_migration FROM event
              WHERE project_id = $1 AND timestamp > now() - ($2 + 60) * interval '1 second' LIMIT ${maxRows}) AS late
      WHERE captured_at > now() - $2 * interval '1 second' AND NOT historical_migration`,
    [environmentId, seconds],
  );
  return rows[0]?.count ?? 0;
}

export interface StoredPosition extends Record<string, unknown> {
  topic: string;
  partition: number;
  log: string;
  next_offset: string;
  last_record_fingerprint: string | null;
  updated_at: Date;
}

export async function readPositions(sql: Sql, groups: readonly string[]): Promise<StoredPosition[]> {
  return sql.query<StoredPosition>(
    `SELECT topic, partition, log, next_offset, last_record_fingerprint, updated_at
       FROM consumer_offset WHERE "group" = ANY ($1::text[])`,
    [groups],
  );
}
