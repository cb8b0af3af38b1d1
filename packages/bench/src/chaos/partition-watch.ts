// Measures how long partitions stand still because no consumer makes progress.

import { setTimeout as sleep } from 'node:timers/promises';
import { createOffsetReader } from '@millrace/testing/offset-reader';
import type { Pool } from 'pg';

const sampleMs = 200;

/** Observes the progress of the consumers from outside, and measures how long partitions stood still. */
export async function watchPartitions(broker: string, database: Pool, topicPrefix: string) {
  const offsets = createOffsetReader(broker, database, topicPrefix);
  const { partitions, lag } = offsets;
  let faultEndedAt = 0;
  let isBroken = false;
  let longest = { ms: 0, partition: '' };
  let isRunning = true;

  async function findStalls(): Promise<void> {
    await offsets.readOffsets();
    const now = performance.now();
    for (const [partition, { movedAt }] of partitions) {
      const ms = isBroken ? 0 : now - Math.max(movedAt, faultEndedAt);
      if (ms > longest.ms) longest = { ms, partition };
    }
  }

  async function repeat(read: () => Promise<void>, everyMs: number): Promise<void> {
    while (isRunning) {
      // Repeats a read that failed. In the meantime, the duration of a stall keeps increasing.
      await read().catch(() => {});
      await sleep(everyMs);
    }
  }

  await offsets.readEnds().catch(() => {});
  const running = [repeat(offsets.readEnds, sampleMs * 2), repeat(findStalls, sampleMs)];
  return {
    /** Marks the begin of a fault. Stalls from then on do not count. */
    faultBegins(): void {
      isBroken = true;
    },
    faultEnds(): void {
      isBroken = false;
      faultEndedAt = performance.now();
    },
    /**
     * Returns the longest time since the previous call in which a partition had unread records and stood still without
     * a fault.
     */
    takeLongestStall(): { ms: number; partition: string } {
      const taken = longest;
      longest = { ms: 0, partition: '' };
      return taken;
    },
    /**
     * Waits until every partition either has moved since the fault ended or has no unread records. Returns false after
     * `patienceMs`.
     */
    untilMoved: (patienceMs: number) =>
      until(
        () => [...partitions.values()].every(({ movedAt }) => movedAt > faultEndedAt),
        () => 0,
        patienceMs,
      ),
    /** Waits until all records of the log are processed. Returns false if nothing has moved for `patienceMs`. */
    async untilDrained(patienceMs: number): Promise<boolean> {
      // The ends are read anew, so that they include the events that were sent last.
      while (
        !(await offsets.readEnds().then(
          () => true,
          () => false,
        ))
      )
        await sleep(sampleMs);
      return until(() => lag() === 0, lag, patienceMs);
    },
    /** The number of records that are not processed. */
    lag,
    async stop(): Promise<void> {
      isRunning = false;
      await Promise.all(running);
      await offsets.stop();
    },
  };
}

/** Resolves with true when the condition holds, and with false when `progress` has not changed for `patienceMs`. */
async function until(isTrue: () => boolean, progress: () => number, patienceMs: number): Promise<boolean> {
  let last = progress();
  let changedAt = performance.now();
  while (!isTrue()) {
    if (progress() !== last) changedAt = performance.now();
    last = progress();
    if (performance.now() - changedAt > patienceMs) return false;
    await sleep(sampleMs);
  }
  return true;
}
