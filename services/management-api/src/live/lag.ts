// How far what is stored is behind what was accepted.

import { consumerGroup, outputGroup, type TopicNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { EventLog } from '@millrace/event-log';
import { sleep } from '@millrace/runtime';
import { readPositions } from './store.ts';

/** An import may take hours; nobody takes that for a delay. */
const lanes = ['live', 'overflow'] as const;

export interface LagDeps {
  log: Pick<EventLog, 'endOffsets'>;
  sql: Sql;
  topics: TopicNames;
  topicPrefix: string;
  /** Stored events are published: what is not published yet is not there yet. */
  publishes: boolean;
}

/**
 * The age of the oldest event that was accepted and is not there yet, in seconds: at most so long, for the log tells offsets,
 * not times. It is the time since the partition was last seen read to its end, or since its last read record was appended,
 * whichever is shorter.
 */
export function createLag({ log, sql, topics, topicPrefix, publishes }: LagDeps) {
  const groups = lanes.map((lane) => (publishes ? outputGroup : consumerGroup)(lane, topicPrefix));
  /** When each partition was last seen read to its end. */
  const endSeenAt = new Map<string, number>();
  let measuring: Promise<number> | undefined;

  async function unread() {
    const [positions, ...ends] = await Promise.all([
      readPositions(sql, groups),
      ...lanes.map(async (lane) =>
        (await log.endOffsets(topics[lane])).map((end) => ({ ...end, topic: topics[lane] })),
      ),
    ]);
    return ends.flat().flatMap(({ topic, partition, log: ownLog, endOffset }) => {
      const key = `${topic} ${partition}`;
      const stored = positions.find((one) => one.topic === topic && one.partition === partition && one.log === ownLog);
      if (BigInt(stored?.next_offset ?? 0) < endOffset) return [{ key, takenAt: appendedAt(stored?.record_before) }];
      endSeenAt.set(key, Date.now());
      return [];
    });
  }

  async function measure(): Promise<number> {
    let waiting = await unread();
    // What is on its way at this moment is no delay; only a second look tells.
    if (waiting.some(({ key }) => !endSeenAt.has(key))) {
      await sleep(300);
      waiting = await unread();
    }
    const now = Date.now();
    const ages = waiting.map(({ key, takenAt }) => now - Math.max(endSeenAt.get(key) ?? 0, takenAt));
    // Of a partition of which nothing was ever read, only the time it is watched is known.
    for (const { key } of waiting) if (!endSeenAt.has(key)) endSeenAt.set(key, now);
    return Math.round(Math.max(0, ...ages.filter((age) => age < now)) / 100) / 10;
  }

  return {
    /** @throws AppError `unavailable` when the log does not answer. */
    measure(): Promise<number> {
      measuring ??= measure().finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
  };
}

/** When the record was appended that a stored position is behind (`recordMark`); 0 when it is not known. */
function appendedAt(mark: string | null | undefined): number {
  return Number(mark?.split('/')[1] ?? 0);
}
