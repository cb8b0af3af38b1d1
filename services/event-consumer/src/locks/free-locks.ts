import type { Sql } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { describeFailure } from '../failures/describe-failure.ts';
import { endFrozenSessions } from './frozen-session-store.ts';

export interface FreeLocksDeps {
  sql: Sql;
  logger: Logger;
  /** A session whose process has been silent for this time in the middle of a transaction loses the transaction. */
  silentMs: number;
  now: () => number;
}

const intervalMs = 1000;

/**
 * For a batch that could not get a lock: ends transactions whose process has stopped, or cannot be reached. Looks once
 * a second at most, however often it is called. Never throws.
 */
export function createFreeLocks({ sql, logger, silentMs, now }: FreeLocksDeps): () => Promise<void> {
  let nextAtMs = 0;
  let isTold = false;
  return async () => {
    if (now() < nextAtMs) return;
    nextAtMs = now() + intervalMs;
    try {
      const { ended: sessions, hidden } = await endFrozenSessions(sql, silentMs);
      if (sessions > 0) logger.warn('transactions of a consumer that has stopped were ended', { sessions });
      if (hidden > 0 && !isTold) {
        isTold = true;
        logger.warn(
          'other consumers are connected as another database role: should one stop in the middle of a batch, this one cannot free its locks. Run all consumers as one role',
          { sessions: hidden },
        );
      }
    } catch (error) {
      logger.debug('nobody knows who holds a lock', describeFailure(error));
    }
  };
}
