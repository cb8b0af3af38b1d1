import type { Sql } from '@millrace/db';

/** What PostgreSQL says of its disks, one function per question. How much of them is free it does not know. */

interface TableSize extends Record<string, unknown> {
  name: string;
  /** With indexes, what was moved out of the rows, and partitions. */
  bytes: number;
}

/** The size of this database, and of its largest tables. */
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

/** What came of handing over the write-ahead log to an archive; null where none is set. */
export interface Archiver extends Record<string, unknown> {
  failures: number;
  lastFailed: Date | null;
  lastArchived: Date | null;
}

export async function readArchiver(sql: Sql): Promise<Archiver | null> {
  const [row] = await sql.query<Archiver>(
    `SELECT failed_count::int AS failures, last_failed_time AS "lastFailed", last_archived_time AS "lastArchived"
       FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'`,
  );
  return row ?? null;
}

/** A replication slot, for which PostgreSQL keeps its write-ahead log until it was read. */
export interface Slot extends Record<string, unknown> {
  name: string;
  isActive: boolean;
  keptBytes: number | null;
  /** `reserved`, `extended` (more than `max_wal_size`), `unreserved` (may be deleted at any moment) or `lost`. */
  status: string | null;
  /** Write-ahead log that may still be written before it is lost; null: without a limit. */
  safeBytes: number | null;
}

export async function readSlots(sql: Sql): Promise<Slot[]> {
  return sql.query<Slot>(
    `SELECT slot_name AS name, active AS "isActive", wal_status AS status, safe_wal_size::float8 AS "safeBytes",
            pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 AS "keptBytes"
       FROM pg_replication_slots ORDER BY 1`,
  );
}

/** Transactions since the oldest row of this cluster was frozen. Near two thousand million PostgreSQL takes no writes. */
export async function readUnfrozenTransactions(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ age: number }>('SELECT max(age(datfrozenxid))::float8 AS age FROM pg_database');
  return row?.age ?? 0;
}

/** The value of a setting as PostgreSQL shows it. */
export async function readSetting(sql: Sql, name: string): Promise<string> {
  const [row] = await sql.query<{ value: string }>('SELECT current_setting($1) AS value', [name]);
  return row?.value ?? '';
}
