import type pg from 'pg';
import { buildIndex } from './build-index.ts';
import { type LockPatience, runGivingWay } from './give-way.ts';

/** The first line of a migration that builds an index beside those who write. */
const concurrently = /^-- concurrently\s*\n/;

/** The engine would do this in a statement of its own, after the script. */
const finishRecord = `
UPDATE "_prisma_migrations" SET "finished_at" = now() WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`;

/**
 * Applies one migration while services run. As one transaction with its record, which gives way to those who use its tables.
 *
 * A script that begins with the line `-- concurrently` holds one `CREATE INDEX CONCURRENTLY "name" ON "table"` and nothing else,
 * which PostgreSQL does not take in a transaction. It is recorded when the index is whole.
 *
 * @throws AppError `conflict` naming the oldest transactions when the tables were not free in time.
 */
export async function applyScript(pool: pg.Pool, script: string, patience: LockPatience): Promise<void> {
  if (!concurrently.test(script)) return runGivingWay(pool, `${script}\n;${finishRecord}`, patience);
  await buildIndex(pool, script, patience);
  await pool.query(finishRecord);
}
