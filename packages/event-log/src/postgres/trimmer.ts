import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { sleep } from '../consume/backoff.ts';
import { readPassedOffsets, trimPartition } from './trim-store.ts';

/** Rows deleted in one transaction: short enough not to be felt by a writer. */
const stepRecords = 2000;
const pauseMs = 50;

export interface Trimmer {
  /** Deletes everything that may go by now. */
  trim(): Promise<void>;
  stop(): void;
}

export interface TrimSettings {
  /** Records every group has passed are kept for so long. */
  retentionHours: number;
  /** Records of topics that no group reads: dead letters, or a topic whose reader has yet to come. Default 30 days. */
  unreadRetentionHours?: number;
  intervalMs: number;
  /** Groups that read no more: nothing is kept for them. */
  retiredGroups?: readonly string[];
}

/** Deletes, in the background and in small steps, records that all groups have passed and that are old enough. */
export function createTrimmer(
  database: SqlDatabase,
  logger: Logger,
  { retentionHours, unreadRetentionHours = 30 * 24, intervalMs, retiredGroups = [] }: TrimSettings,
): Trimmer {
  const stopping = new AbortController();

  async function trim(): Promise<void> {
    for (const passed of await readPassedOffsets(database.sql, retiredGroups)) {
      const hours = passed.isRead ? retentionHours : unreadRetentionHours;
      let deleted = stepRecords;
      while (deleted === stepRecords && !stopping.signal.aborted) {
        deleted = await database.transaction((tx) => trimPartition(tx, passed, hours, stepRecords));
        if (deleted === stepRecords) await sleep(pauseMs, stopping.signal);
      }
    }
  }

  let isTrimming = false;
  const timer = setInterval(async () => {
    if (isTrimming) return;
    isTrimming = true;
    try {
      await trim();
    } catch (error) {
      logger.debug('old records could not be trimmed; tried again later', { error });
    }
    isTrimming = false;
  }, intervalMs);
  timer.unref();

  return {
    trim,
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}
