import type { BenchDatabase } from '../topic/bench-project.ts';

const shown = 14;

/** Begins anew what `costliestStatements` tells. @throws when the server has not loaded `pg_stat_statements`. */
export async function forgetStatements(database: BenchDatabase): Promise<void> {
  await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await database.query(
    'SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()))',
  );
}

/** What the statements of this database took, the dearest first: µs per event, calls, blocks looked at per event. */
export async function costliestStatements(database: BenchDatabase, events: number): Promise<string[]> {
  const rows = await database.query<{ micros: number; calls: number; blocks: number; read: number; text: string }>(
    `SELECT (total_exec_time + total_plan_time) * 1000 / $1::float8 AS micros, calls::int AS calls,
            (shared_blks_hit + shared_blks_read) / $1::float8 AS blocks, shared_blks_read / $1::float8 AS read,
            left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS text
       FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND query NOT LIKE '%pg_stat%' AND query NOT LIKE '%pg_database_size%' AND query NOT LIKE '%AS count%'
      ORDER BY total_exec_time DESC LIMIT ${shown}`,
    [events],
  );
  return rows.map(
    ({ micros, calls, blocks, read, text }) =>
      `${micros.toFixed(2).padStart(7)} µs ${String(calls).padStart(6)} calls ${blocks.toFixed(2).padStart(6)} blocks ${read.toFixed(2).padStart(6)} read  ${text}`,
  );
}
