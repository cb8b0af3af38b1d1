import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import { Kafka, logLevel } from 'kafkajs';
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

interface PartitionView {
  end: number;
  offset: number;
  movedAt: number;
}

export async function watchLanes(broker: string, database: Pool, topicPrefix: string): Promise<LaneWatch> {
  const topics = lanes.map((lane) => topicNames(topicPrefix)[lane]);
  // Those that store; others follow the same topics.
  const groups = lanes.map((lane) => consumerGroup(lane, topicPrefix));
  const retry = { retries: 0 };
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, requestTimeout: 2000, retry });
  const partitions = new Map<string, PartitionView>();
  let faultEndedAt = 0;
  let isBroken = false;
  let longest = 0;
  let longestOf = '';
  let isRunning = true;

  const viewOf = (name: string) => {
    const view = partitions.get(name) ?? { end: 0, offset: 0, movedAt: performance.now() };
    partitions.set(name, view);
    return view;
  };

  /** With a connection of its own each time: one that broke must not make the watch blind. */
  async function readEnds(): Promise<void> {
    const admin = kafka.admin();
    try {
      await admin.connect();
      for (const topic of topics) {
        for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
          viewOf(`${topic} ${partition}`).end = Number(high);
        }
      }
    } finally {
      await admin.disconnect().catch(() => {});
    }
  }

  async function readOffsets(): Promise<void> {
    const { rows } = await database.query<{ name: string; next_offset: string }>(
      `SELECT topic || ' ' || partition AS name, next_offset FROM consumer_position WHERE topic = ANY($1) AND "group" = ANY($2)`,
      [topics, groups],
    );
    const now = performance.now();
    for (const { name, next_offset } of rows) {
      const view = viewOf(name);
      if (Number(next_offset) !== view.offset) view.movedAt = now;
      view.offset = Number(next_offset);
    }
    for (const [name, view] of partitions) {
      if (view.offset >= view.end) view.movedAt = now;
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

  await readEnds().catch(() => {});
  const running = [repeat(readEnds, sampleMs * 2), repeat(readOffsets, sampleMs)];
  const lag = () => [...partitions.values()].reduce((sum, { end, offset }) => sum + Math.max(0, end - offset), 0);
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
        asked = await readEnds().then(
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
    },
  };
}
