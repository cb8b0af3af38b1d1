// Records when each feature flag was last called.

import { eventNames } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger, Stoppable } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { describeFailure } from '../failures.ts';
import type { EventRow } from '../model/event.ts';
import { readProperty } from '../values/properties.ts';
import { textHash53 } from '../values/text.ts';
import { type FlagCall, recordFlagCalls } from './store.ts';

type CallingRow = Pick<EventRow, 'projectId' | 'event' | 'timestampMs' | 'properties'>;

export interface FlagCallRecorder extends Stoppable {
  /** Records the flag calls in the rows of a committed batch. Does not write them immediately. */
  note(rows: readonly CallingRow[]): void;
  /** Clears the cache. Called when stored times may have been lost, so that the next calls write them again. */
  forgetAll(): void;
  flush(): Promise<void>;
}

const hourMs = 3_600_000;
const maxRemembered = 100_000;
/** The maximum number of flags that wait to be written. It is exceeded only if a client makes up keys. */
const maxPending = 20_000;
const maxKeyLength = 400;

/**
 * Maintains when each flag was last called, based on `$feature_flag_called` events. Writes each flag at most once an
 * hour, outside of the batches' transactions. A crash can lose the calls of the last few seconds, but a flag's next
 * call records its time again.
 */
export function createFlagCallRecorder({
  database,
  logger,
  now,
  flushIntervalMs = 5000,
}: {
  database: Pick<SqlDatabase, 'transaction'>;
  logger: Logger;
  now: () => number;
  /** The write interval in milliseconds, or 0 to write only when `flush` is called. */
  flushIntervalMs?: number;
}): FlagCallRecorder {
  /** Maps the hash of a flag key to the hour in which the flag was last recorded. */
  const noted = new LRUCache<number, number>({ max: maxRemembered });
  const pending = new Map<string, FlagCall>();
  let flushing: Promise<void> = Promise.resolve();

  function note(rows: readonly CallingRow[]): void {
    const nowMs = now();
    const hour = Math.floor(nowMs / hourMs);
    for (const row of rows) {
      if (row.event !== eventNames.featureFlagCalled) continue;
      const flagKey = readProperty(row.properties, '$feature_flag');
      if (typeof flagKey !== 'string' || flagKey === '' || flagKey.length > maxKeyLength) continue;
      // Limit the time to the current time. Otherwise, a client whose clock is ahead would hide all subsequent calls.
      const calledAtMs = Math.min(row.timestampMs, nowMs);
      const call = { projectId: row.projectId, flagKey, calledAtMs };
      const key = keyOf(call);
      const waiting = pending.get(key);
      if (waiting !== undefined) {
        if (waiting.calledAtMs < call.calledAtMs) pending.set(key, call);
        continue;
      }
      if (pending.size >= maxPending || (noted.get(textHash53(key)) ?? 0) >= hour) continue;
      noted.set(textHash53(key), hour);
      pending.set(key, call);
    }
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    const calls = [...pending];
    pending.clear();
    try {
      await database.transaction((tx) =>
        recordFlagCalls(
          tx,
          calls.map(([, call]) => call),
        ),
      );
    } catch (error) {
      logger.warn(
        'could not store the times of the last flag calls; retrying with the next batch',
        describeFailure(error),
      );
      for (const [key] of calls) noted.delete(textHash53(key));
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(write);
    return flushing;
  }

  const timer = flushIntervalMs > 0 ? setInterval(() => void flush(), flushIntervalMs) : undefined;
  timer?.unref();
  return {
    note,
    forgetAll: () => noted.clear(),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

function keyOf({ projectId, flagKey }: FlagCall): string {
  return `${projectId}:${flagKey}`;
}
