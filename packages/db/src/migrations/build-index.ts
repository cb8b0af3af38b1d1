import { AppError } from '@millrace/errors';
import type pg from 'pg';
import { type LockPatience, runGivingWay } from './give-way.ts';

interface Index {
  name: string;
  table: string;
  /** `CREATE INDEX` or `CREATE UNIQUE INDEX`. */
  create: string;
  /** What stands behind the table: the method, the columns. */
  definition: string;
}

const statement = /^(CREATE (?:UNIQUE )?INDEX) CONCURRENTLY "([^"]+)" ON "([^"]+)"\s*([^;]+)/m;

/**
 * Builds the index of a migration `-- concurrently`. It waits for every transaction that has seen the table, and keeps nobody
 * from writing meanwhile. An index that is whole stays as it is; of one that an interrupted attempt left, only what is missing is built.
 *
 * @throws AppError `internal` when the script is another.
 */
export async function buildIndex(pool: pg.Pool, script: string, patience: LockPatience): Promise<void> {
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
 * PostgreSQL builds none beside writers on a table and all of its partitions. On the table alone it is made in a moment, and
 * from then on new partitions come with it; it is valid once one of each partition has been attached.
 */
async function buildOnPartitions(pool: pg.Pool, index: Index, patience: LockPatience): Promise<void> {
  const { name, table, create, definition } = index;
  await runGivingWay(pool, `${create} IF NOT EXISTS "${name}" ON ONLY "${table}" ${definition}`, patience);
  for (const partition of await partitionsWithout(pool, index)) {
    const own = { ...index, name: nameOn(partition, index), table: partition };
    if (!(await isWhole(pool, own))) await buildOnTable(pool, own);
    await runGivingWay(pool, `ALTER INDEX "${name}" ATTACH PARTITION "${own.name}"`, patience);
  }
}

/** As PostgreSQL names them: `event_2026_11_created_at_idx`. */
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
