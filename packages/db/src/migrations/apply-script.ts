/** Applies one migration while services continue to use its tables. */

import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@millrace/runtime';
import type pg from 'pg';

/** Matches the first line of a migration that builds an index concurrently, without blocking writes. */
const concurrently = /^-- concurrently\s*\n/;

/** Records that the migration is complete. Prisma's engine would do this in a separate statement after the script. */
const finishRecord = `
UPDATE "_prisma_migrations" SET "finished_at" = now() WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`;

/**
 * Applies one migration while services run. One transaction runs the script and records the migration. While the
 * script's tables are in use, the transaction is rolled back and retried.
 *
 * A script whose first line is `-- concurrently` contains a single `CREATE INDEX CONCURRENTLY "name" ON "table"`, which
 * PostgreSQL does not allow in a transaction. The migration is recorded when the index is complete.
 *
 * @throws AppError `conflict` that names the oldest transactions if the tables stayed in use for too long
 */
export async function applyMigrationScript(pool: pg.Pool, script: string, patience: LockTimeouts): Promise<void> {
  if (!concurrently.test(script)) return runGivingWay(pool, `${script}\n;${finishRecord}`, patience);
  await buildIndex(pool, script, patience);
  await pool.query(finishRecord);
}

interface Index {
  name: string;
  table: string;
  create: string;
  /** The end of the statement, after the table name: the index method and the columns. */
  definition: string;
}

const statement = /^(CREATE (?:UNIQUE )?INDEX) CONCURRENTLY "([^"]+)" ON "([^"]+)"\s*([^;]+)/m;

/**
 * Builds the index of a `-- concurrently` migration. Waits for every transaction that has read the table, but does not
 * block writes. Keeps a complete index. After an interrupted attempt, builds only what is missing.
 * @throws AppError `internal` if the script is not a single CREATE INDEX CONCURRENTLY statement
 */
async function buildIndex(pool: pg.Pool, script: string, patience: LockTimeouts): Promise<void> {
  const index = readIndex(script);
  if (await isWhole(pool, index)) return;
  if (await isPartitioned(pool, index)) await buildOnPartitions(pool, index, patience);
  else await buildOnTable(pool, index);
}

function readIndex(script: string): Index {
  const [, create, name, table, definition] = statement.exec(script) ?? [];
  if (create === undefined || name === undefined || table === undefined || definition === undefined) {
    throw new AppError(
      'internal',
      'A migration "-- concurrently" is one CREATE INDEX CONCURRENTLY "name" ON "table" …',
    );
  }
  return { name, table, create, definition };
}

async function buildOnTable(pool: pg.Pool, { name, table, create, definition }: Index): Promise<void> {
  await pool.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
  await pool.query(`${create} CONCURRENTLY "${name}" ON "${table}" ${definition}`);
}

/**
 * Builds an index on a partitioned table. PostgreSQL cannot do this concurrently, so the index is first created only on
 * the parent table, which takes a moment. From then on, new partitions get the index automatically. The parent index
 * becomes valid when every existing partition has an index attached to it.
 */
async function buildOnPartitions(pool: pg.Pool, index: Index, patience: LockTimeouts): Promise<void> {
  const { name, table, create, definition } = index;
  await runGivingWay(pool, `${create} IF NOT EXISTS "${name}" ON ONLY "${table}" ${definition}`, patience);
  for (const partition of await partitionsWithout(pool, index)) {
    const own = { ...index, name: nameOn(partition, index), table: partition };
    if (!(await isWhole(pool, own))) await buildOnTable(pool, own);
    await runGivingWay(pool, `ALTER INDEX "${name}" ATTACH PARTITION "${own.name}"`, patience);
  }
}

/**
 * Returns the name that PostgreSQL would choose for a partition's index, for example `event_2026_11_created_at_idx`.
 */
function nameOn(partition: string, { name, table }: Index): string {
  return partition + (name.startsWith(table) ? name.slice(table.length) : `_${name}`);
}

async function isWhole(pool: pg.Pool, { name, table }: Index): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT 1 FROM pg_index
     WHERE indexrelid = to_regclass(quote_ident($1)) AND indrelid = to_regclass(quote_ident($2)) AND indisvalid`,
    [name, table],
  );
  return rows.length > 0;
}

async function isPartitioned(pool: pg.Pool, { table }: Index): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT 1 FROM pg_partitioned_table WHERE partrelid = to_regclass(quote_ident($1))`,
    [table],
  );
  return rows.length > 0;
}

async function partitionsWithout(pool: pg.Pool, { name, table }: Index): Promise<string[]> {
  const { rows } = await pool.query<{ partition: string }>(
    `SELECT relname AS partition FROM pg_inherits AS part JOIN pg_class ON pg_class.oid = part.inhrelid
     WHERE part.inhparent = to_regclass(quote_ident($1)) AND NOT EXISTS (
       SELECT 1 FROM pg_index JOIN pg_inherits AS attached ON attached.inhrelid = indexrelid
       WHERE indrelid = part.inhrelid AND attached.inhparent = to_regclass(quote_ident($2)))
     ORDER BY relname`,
    [table, name],
  );
  return rows.map(({ partition }) => partition);
}

export interface LockTimeouts {
  /**
   * How many milliseconds a statement waits for a table that is in use. All queries on the table that arrive during the
   * wait are blocked too, even reads. The statement therefore gives up quickly and is retried.
   */
  waitMs: number;
  pauseMs: number;
  /** The time in milliseconds after which a migration stops retrying and fails. */
  giveUpMs: number;
}

export const defaultLockTimeouts: LockTimeouts = { waitMs: 100, pauseMs: 1_000, giveUpMs: 300_000 };

const lockNotAvailable = '55P03';

/**
 * Runs statements in one transaction without blocking services. If a table is in use, rolls back, lets waiting queries
 * run, and tries again.
 * @throws AppError `conflict` that names the oldest transactions if the tables stayed in use for `giveUpMs`
 */
async function runGivingWay(pool: pg.Pool, statements: string, patience: LockTimeouts): Promise<void> {
  const transaction = `SET LOCAL lock_timeout = ${patience.waitMs};\n${statements}`;
  const giveUpAt = Date.now() + patience.giveUpMs;
  for (;;) {
    try {
      await pool.query(transaction);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error;
      if (Date.now() > giveUpAt) throw await tablesInUse(pool, patience, error);
      await sleep(patience.pauseMs);
    }
  }
}

async function tablesInUse(pool: pg.Pool, { giveUpMs }: LockTimeouts, cause: unknown): Promise<AppError> {
  const { rows } = await pool.query<{ pid: number; application: string; state: string; seconds: number }>(
    `SELECT pid, application_name AS application, state, extract(epoch FROM now() - xact_start)::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
     ORDER BY xact_start LIMIT 5`,
  );
  const oldest = rows.map(
    ({ pid, application, state, seconds }) => `pid ${pid} (${application || 'no name'}, ${state}, ${seconds} s)`,
  );
  const reason = `a table that the migration changes was in use for ${Math.round(giveUpMs / 1000)} s`;
  const holders = oldest.length === 0 ? '' : `. Oldest transactions: ${oldest.join(', ')}`;
  return new AppError(
    'conflict',
    `${reason}${holders}. The migration was rolled back. Run the migration again. If it fails again, end the oldest transactions first`,
    { cause },
  );
}
