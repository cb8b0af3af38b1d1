// SQL that reads the state of a PostgreSQL server for `millrace doctor`.

import type { Sql } from '@millrace/db';

export async function readServerState(sql: Sql) {
  const [row] = await sql.query<{ version: number; shown: string; isStandby: boolean; isReadOnly: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
            pg_is_in_recovery() AS "isStandby",
            current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  );
  return row ?? { version: 0, shown: 'unknown', isStandby: false, isReadOnly: false };
}

/** Returns the names of all applied migrations. Rejects with `42P01` if no migration was ever applied. */
export async function readAppliedMigrations(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT migration_name AS name FROM "_prisma_migrations"
      WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows.map(({ name }) => name);
}

interface OpenTransaction extends Record<string, unknown> {
  who: string;
  seconds: number;
}

/**
 * Returns this database's transactions that have been open for more than `seconds`, including prepared ones, oldest
 * first.
 */
export async function readOpenTransactions(sql: Sql, seconds: number): Promise<OpenTransaction[]> {
  return sql.query<OpenTransaction>(
    `SELECT who, extract(epoch FROM now() - since)::int AS seconds
       FROM (SELECT format('process %s (%s, %s)', pid, coalesce(nullif(application_name, ''), usename), state) AS who, xact_start
               FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
              UNION ALL
             SELECT format('prepared transaction %L', gid), prepared
               FROM pg_prepared_xacts WHERE database = current_database()) AS open (who, since)
      WHERE since < clock_timestamp() - $1 * interval '1 second'
      ORDER BY since`,
    [seconds],
  );
}

/** A connected standby. Fields that the current role is not allowed to see are null. */
export interface Standby extends Record<string, unknown> {
  name: string;
  state: string | null;
  bytesBehind: number | null;
  secondsBehind: number | null;
}

export async function readStandbys(sql: Sql): Promise<Standby[]> {
  return sql.query<Standby>(
    `SELECT coalesce(nullif(application_name, ''), 'a standby') AS name, state,
            pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 AS "bytesBehind",
            extract(epoch FROM replay_lag)::float8 AS "secondsBehind"
       FROM pg_stat_replication ORDER BY 1`,
  );
}

export async function readClockMs(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms');
  return row?.ms ?? Number.NaN;
}

/** Returns the privileges that services need but the current role does not have. */
export async function readMissingPrivileges(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ lacks: string }>(
    `SELECT 'CREATE on the schema' AS lacks WHERE NOT has_schema_privilege(current_schema(), 'CREATE')
      UNION ALL
     SELECT 'ownership of ' || relname FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'p' AND NOT pg_has_role(relowner, 'USAGE')
      UNION ALL
     SELECT privilege || ' on ' || relname
       FROM pg_class CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname <> '_prisma_migrations' AND NOT has_table_privilege(oid, privilege)
      UNION ALL
     SELECT 'USAGE on ' || relname FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace
        AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') END`,
  );
  return rows.map(({ lacks }) => lacks);
}

/** Returns the roles of other connected services whose transactions the current role is not allowed to see. */
export async function readHiddenServices(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT DISTINCT usename AS name FROM pg_stat_activity
      WHERE datname = current_database() AND usename <> current_user AND NOT pg_has_role('pg_read_all_stats', 'USAGE')
      ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

export async function readConnections(sql: Sql): Promise<{ used: number; most: number }> {
  const [row] = await sql.query<{ used: number; most: number }>(
    `SELECT count(*)::int AS used,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most
       FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  return row ?? { used: 0, most: 1 };
}

/** Returns the disabled settings that would protect acknowledged data in a server crash. */
export async function readUnsafeSettings(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT name FROM pg_settings
      WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

export async function countPlainSecrets(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM batch_export
      WHERE NOT deleted AND destination_secrets <> '{}' AND NOT destination_secrets ? 'sealed'`,
  );
  return row?.count ?? 0;
}

interface ActiveFlag extends Record<string, unknown> {
  projectId: number;
  key: string;
  filters: unknown;
  bucketing_identifier: string | null;
  ensure_experience_continuity: boolean | null;
}

export async function readActiveFlags(sql: Sql): Promise<ActiveFlag[]> {
  return sql.query<ActiveFlag>(
    `SELECT project_id AS "projectId", key, filters, bucketing_identifier, ensure_experience_continuity
       FROM feature_flag WHERE active AND NOT deleted ORDER BY project_id, key`,
  );
}

/** Returns the names of the SDKs (such as `posthog-go`) that sent each project's last 500 events. */
export async function readServerSdks(sql: Sql, projectIds: readonly number[]): Promise<Map<number, Set<string>>> {
  const rows = await sql.query<{ projectId: number; sdks: string[] }>(
    `SELECT flagged.project_id AS "projectId", array_agg(DISTINCT sdk) AS sdks
       FROM unnest($1::int[]) AS flagged (project_id),
            LATERAL (SELECT properties->>'$lib' AS sdk FROM event
                      WHERE event.project_id = flagged.project_id ORDER BY timestamp DESC LIMIT 500) AS last
      WHERE sdk IS NOT NULL GROUP BY 1`,
    [projectIds],
  );
  return new Map(rows.map(({ projectId, sdks }) => [projectId, new Set(sdks)]));
}

interface TableSize extends Record<string, unknown> {
  name: string;
  /** The total size in bytes, including indexes, TOAST data and partitions. */
  bytes: number;
}

export async function readSizes(sql: Sql): Promise<{ databaseBytes: number; largest: TableSize[] }> {
  const [row] = await sql.query<{ bytes: number }>('SELECT pg_database_size(current_database())::float8 AS bytes');
  const largest = await sql.query<TableSize>(
    `SELECT root.relname AS name, sum(pg_total_relation_size(part.oid))::float8 AS bytes
       FROM pg_class AS part
       JOIN pg_class AS root ON root.oid = coalesce(pg_partition_root(part.oid), part.oid)
      WHERE part.relnamespace = current_schema()::regnamespace AND part.relkind = 'r'
      GROUP BY root.relname ORDER BY 2 DESC, 1 LIMIT 3`,
  );
  return { databaseBytes: row?.bytes ?? 0, largest };
}

export interface Archiver extends Record<string, unknown> {
  failures: number;
  lastFailed: Date | null;
  lastArchived: Date | null;
}

export async function readArchiverStatistics(sql: Sql): Promise<Archiver | null> {
  const [row] = await sql.query<Archiver>(
    `SELECT failed_count::int AS failures, last_failed_time AS "lastFailed", last_archived_time AS "lastArchived"
       FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'`,
  );
  return row ?? null;
}

/** A replication slot. PostgreSQL retains the write-ahead log that the slot's reader has not received yet. */
export interface Slot extends Record<string, unknown> {
  name: string;
  isActive: boolean;
  keptBytes: number | null;
  /** `reserved`, `extended` (more than `max_wal_size` is kept), `unreserved` (can be deleted at any time) or `lost`. */
  status: string | null;
  /**
   * Number of bytes of write-ahead log that can still be written before the slot is invalidated. Null means no limit.
   */
  safeBytes: number | null;
}

export async function readReplicationSlots(sql: Sql): Promise<Slot[]> {
  return sql.query<Slot>(
    `SELECT slot_name AS name, active AS "isActive", wal_status AS status, safe_wal_size::float8 AS "safeBytes",
            pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 AS "keptBytes"
       FROM pg_replication_slots ORDER BY 1`,
  );
}

/**
 * Returns the age of the oldest unfrozen row in the cluster, as a number of transactions. PostgreSQL rejects writes
 * when the age approaches 2 billion.
 */
export async function readUnfrozenTransactions(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ age: number }>('SELECT max(age(datfrozenxid))::float8 AS age FROM pg_database');
  return row?.age ?? 0;
}

export async function readSetting(sql: Sql, name: string): Promise<string> {
  const [row] = await sql.query<{ value: string }>('SELECT current_setting($1) AS value', [name]);
  return row?.value ?? '';
}
