import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import { createKafkaLog } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import type { Pool } from 'pg';

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
      // What cannot be asked now is asked again; the clock of a stall continues meanwhile.
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

interface PartitionView {
  /** The log whose end it is: offsets of another one say nothing of it. */
  log: string;
  end: number;
  offset: number;
  movedAt: number;
}

/** Where each partition of all lanes ends, and how far it has taken effect. */
export function createLaneOffsets(broker: string, database: Pool, topicPrefix: string) {
  const topics = lanes.map((lane) => topicNames(topicPrefix)[lane]);
  // Those that store; others follow the same topics.
  const groups = lanes.map((lane) => consumerGroup(lane, topicPrefix));
  const logger = createLogger('lane watch', 'error');
  logger.silent = true;
  const log = createKafkaLog({ brokers: [broker], clientId: 'lane-watch', logger });
  const partitions = new Map<string, PartitionView>();

  const viewOf = (name: string) => {
    const view = partitions.get(name) ?? { log: '', end: 0, offset: 0, movedAt: performance.now() };
    partitions.set(name, view);
    return view;
  };

  async function readEnds(): Promise<void> {
    for (const topic of topics) {
      for (const { partition, log: of, endOffset } of await log.endOffsets(topic)) {
        const view = viewOf(`${topic} ${partition}`);
        // Made again: nothing of it has taken effect.
        if (view.log !== of) view.offset = 0;
        view.log = of;
        view.end = Number(endOffset);
      }
    }
  }

  async function readOffsets(): Promise<void> {
    const { rows } = await database.query<{ name: string; log: string; next_offset: string }>(
      `SELECT topic || ' ' || partition AS name, log, next_offset FROM consumer_position WHERE topic = ANY($1) AND "group" = ANY($2)`,
      [topics, groups],
    );
    const now = performance.now();
    for (const { name, log: of, next_offset } of rows) {
      const view = viewOf(name);
      if (view.log !== of) continue;
      if (Number(next_offset) !== view.offset) view.movedAt = now;
      view.offset = Number(next_offset);
    }
    for (const view of partitions.values()) if (view.offset >= view.end) view.movedAt = now;
  }

  return {
    partitions,
    readEnds,
    readOffsets,
    lag: () => [...partitions.values()].reduce((sum, { end, offset }) => sum + Math.max(0, end - offset), 0),
    stop: () => log.close(),
  };
}
