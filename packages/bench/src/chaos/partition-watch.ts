// Measures how long the event consumers make no progress.

import { setTimeout as sleep } from 'node:timers/promises';
import { createOffsetReader } from '@millrace/testing/offset-reader';
import type { Pool } from 'pg';

const sampleMs = 200;

/** Measures the progress of consumers from outside, and how long partitions stood still. */
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
      // A failed read is repeated. Meanwhile, the time of a stall continues.
      await read().catch(() => {});
      await sleep(everyMs);
    }
  }

  await offsets.readEnds().catch(() => {});
  const running = [repeat(offsets.readEnds, sampleMs * 2), repeat(findStalls, sampleMs)];
  return {
    /** Stalls from now on are not counted. */
    faultBegins(): void {
      isBroken = true;
    },
    faultEnds(): void {
      isBroken = false;
      faultEndedAt = performance.now();
    },
    /** The longest time for which a partition with unread records stood still without a fault, since the previous call. */
    takeLongestStall(): { ms: number; partition: string } {
      const taken = longest;
      longest = { ms: 0, partition: '' };
      return taken;
    },
    /** Waits until every partition has moved since the fault ended or has no unread records. Returns false after `patienceMs`. */
    untilMoved: (patienceMs: number) =>
      until(
        () => [...partitions.values()].every(({ movedAt }) => movedAt > faultEndedAt),
        () => 0,
        patienceMs,
      ),
    /** Waits until all records of the log are processed. Returns false when nothing has moved for `patienceMs`. */
    async untilDrained(patienceMs: number): Promise<boolean> {
      // The current ends include the events that were sent last.
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

/** Resolves with false when `progress` has not changed for `patienceMs`. */
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
