import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { createLaneOffsets } from './lane-offsets.ts';

/** Looks from outside at how far the consumers are, and how long they stood still. */
export interface LaneWatch {
  /** From here on standing still is no surprise. */
  faultBegins(): void;
  faultEnds(): void;
  /** The longest that a partition with records to do has stood still while nothing was broken, milliseconds. */
  longestStallMs(): number;
  /** Topic and partition of it, and when it was over. */
  longestStallOf(): string;
  /** Forgets the longest stall. */
  reset(): void;
  /** Resolves when every partition has moved since the fault ended, or has nothing to do. False after `patienceMs`. */
  untilMoved(patienceMs: number): Promise<boolean>;
  /** Resolves when everything that is in the log now has taken effect. False when nothing moves for `patienceMs`. */
  untilDrained(patienceMs: number): Promise<boolean>;
  /** Records in all lanes that have not taken effect. */
  lag(): number;
  stop(): Promise<void>;
}

const sampleMs = 200;

export async function watchLanes(broker: string, database: Pool, topicPrefix: string): Promise<LaneWatch> {
  const offsets = createLaneOffsets(broker, database, topicPrefix);
  const { partitions, lag } = offsets;
  let faultEndedAt = 0;
  let isBroken = false;
  let longest = 0;
  let longestOf = '';
  let isRunning = true;

  async function look(): Promise<void> {
    await offsets.readOffsets();
    const now = performance.now();
    for (const [name, view] of partitions) {
      const stall = isBroken ? 0 : now - Math.max(view.movedAt, faultEndedAt);
      if (stall <= longest) continue;
      longest = stall;
      longestOf = `${name} at ${view.offset} of ${view.end}, until ${new Date().toISOString().slice(11, -1)}`;
    }
  }

  async function repeat(look: () => Promise<void>, everyMs: number): Promise<void> {
    while (isRunning) {
      // What cannot be asked now is asked again; the clock of a stall goes on meanwhile.
      await look().catch(() => {});
      await sleep(everyMs);
    }
  }

  await offsets.readEnds().catch(() => {});
  const running = [repeat(offsets.readEnds, sampleMs * 2), repeat(look, sampleMs)];
  return {
    faultBegins() {
      isBroken = true;
    },
    faultEnds() {
      isBroken = false;
      faultEndedAt = performance.now();
    },
    longestStallMs: () => longest,
    longestStallOf: () => longestOf,
    reset() {
      longest = 0;
    },
    untilMoved: (patienceMs) =>
      until(
        () => [...partitions.values()].every(({ movedAt }) => movedAt > faultEndedAt),
        patienceMs,
        () => 0,
      ),
    async untilDrained(patienceMs) {
      // The ends as they are now, not as they were when the last event was sent.
      const known = [...partitions.values()];
      for (let asked = false; !asked; ) {
        asked = await offsets.readEnds().then(
          () => true,
          () => sleep(sampleMs, false),
        );
      }
      return until(
        () => lag() === 0,
        patienceMs,
        () => known.reduce((sum, { offset }) => sum + offset, 0),
      );
    },
    lag,
    async stop() {
      isRunning = false;
      await Promise.all(running);
      await offsets.stop();
    },
  };
}

/** @param sign while it changes, there is patience. */
async function until(isTrue: () => boolean, patienceMs: number, sign: () => number): Promise<boolean> {
  let last = sign();
  let changedAt = performance.now();
  while (!isTrue()) {
    if (sign() !== last) changedAt = performance.now();
    last = sign();
    if (performance.now() - changedAt > patienceMs) return false;
    await sleep(sampleMs);
  }
  return true;
}
