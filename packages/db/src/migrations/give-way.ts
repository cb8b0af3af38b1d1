import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@millrace/errors';
import type pg from 'pg';

export interface LockPatience {
  /**
   * How long one statement waits for a table that is in use. Everybody who comes later waits behind it, even readers,
   * so it gives up soon and comes again.
   */
  waitMs: number;
  /** Between two attempts. */
  pauseMs: number;
  /** How long it comes again before the migration has failed. */
  giveUpMs: number;
}

export const usualLockPatience: LockPatience = { waitMs: 100, pauseMs: 1_000, giveUpMs: 300_000 };

const lockNotAvailable = '55P03';

/**
 * Runs statements as one transaction beside those who use the tables: when one is in use, it steps back, lets those pass
 * who wait, and tries again as a whole.
 *
 * @throws AppError `conflict` naming the oldest transactions when the tables were not free in `giveUpMs`.
 */
export async function runGivingWay(pool: pg.Pool, statements: string, patience: LockPatience): Promise<void> {
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

async function tablesInUse(pool: pg.Pool, { giveUpMs }: LockPatience, cause: unknown): Promise<AppError> {
  const { rows } = await pool.query<{ pid: number; application: string; state: string; seconds: number }>(
    `SELECT pid, application_name AS application, state, extract(epoch FROM now() - xact_start)::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
     ORDER BY xact_start LIMIT 5`,
  );
  const oldest = rows.map(
    ({ pid, application, state, seconds }) => `pid ${pid} (${application || 'no name'}, ${state}, ${seconds} s)`,
  );
  const reason = `a table it changes was in use for ${Math.round(giveUpMs / 1000)} s`;
  const holders = oldest.length === 0 ? '' : `; the oldest transactions: ${oldest.join(', ')}`;
  return new AppError('conflict', `${reason}${holders}. Nothing of it was kept; end them or run it again`, { cause });
}
