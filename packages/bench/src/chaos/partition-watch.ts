// Measures stalls, during which no consumer makes progress in a partition.

import { setTimeout as sleep } from 'node:timers/promises';
import { createOffsetReader } from '@millrace/testing/offset-reader';
import type { Pool } from 'pg';

const sampleMs = 200;

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
      // If a read fails, try again later. In the meantime, the measured duration of a stall keeps increasing.
      await read().catch(() => {});
      await sleep(everyMs);
    }
  }

  await offsets.readEnds().catch(() => {});
  const running = [repeat(offsets.readEnds, sampleMs * 2), repeat(findStalls, sampleMs)];
  return {
    /** Stalls during a fault do not count. */
    faultBegins(): void {
      isBroken = true;
    },
    faultEnds(): void {
      isBroken = false;
      faultEndedAt = performance.now();
    },
    /**
     * Returns the longest stall since the previous call. During a stall, a partition has unread records and makes no
     * progress, although no fault is active.
     */
    takeLongestStall(): { ms: number; partition: string } {
      const taken = longest;
      longest = { ms: 0, partition: '' };
      return taken;
    },
    /**
     * Waits until every partition either has made progress since the fault ended, or has no unread records. Returns
     * false after `patienceMs`.
     */
    untilMoved: (patienceMs: number) =>
      until(
        () => [...partitions.values()].every(({ movedAt }) => movedAt > faultEndedAt),
        () => 0,
        patienceMs,
      ),
    /** Waits until all records of the log are processed. Returns false after `patienceMs` without progress. */
    async untilDrained(patienceMs: number): Promise<boolean> {
      // Read the end offsets again, because events may have been appended after the last reading.
      while (
        !(await offsets.readEnds().then(
          () => true,
          () => false,
        ))
      )
        await sleep(sampleMs);
      return until(() => lag() === 0, lag, patienceMs);
    },
    lag,
    async stop(): Promise<void> {
      isRunning = false;
      await Promise.all(running);
      await offsets.stop();
    },
  };
}

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
