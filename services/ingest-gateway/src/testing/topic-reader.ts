import { randomUUID } from 'node:crypto';
import type { CapturedEvent, CapturedRecord, CapturedWarning } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { eventually } from '@millrace/testing';

export interface ReadRecord {
  topic: string;
  partition: number;
  key: string | null;
  value: CapturedRecord;
  headers?: Record<string, string>;
}

export interface TopicReader {
  /** Waits until a project has `count` records, and returns them in the order of their partitions. */
  records(token: string, count: number): Promise<ReadRecord[]>;
  events(token: string, count: number): Promise<CapturedEvent[]>;
  warnings(token: string, count: number): Promise<CapturedWarning[]>;
  stop(): Promise<void>;
}

export async function readTopics(log: EventLog, topics: readonly string[]): Promise<TopicReader> {
  const seen: ReadRecord[] = [];
  /**
   * The next offset of each partition. A member that is removed from its group and rejoins continues from these
   * offsets.
   */
  const ends = new Map<string, bigint>();
  const consumers = await Promise.all(
    topics.map((topic) =>
      log.consume({
        topic,
        group: `reader-${randomUUID()}`,
        maxBatchRecords: 1000,
        maxBatchBytes: 8 * 1024 * 1024,
        partitionConcurrency: 4,
        startOffset: async (partition) => ({
          nextOffset: ends.get(`${topic}/${partition}`) ?? 0n,
          lastRecordFingerprint: null,
        }),
        async handler({ partition, records }) {
          const name = `${topic}/${partition}`;
          let nextOffset = ends.get(name) ?? 0n;
          for (const { key, value, offset, headers } of records) {
            if (offset < nextOffset) continue;
            seen.push({ topic, partition, key, value: JSON.parse(value.toString()), headers });
            nextOffset = offset + 1n;
          }
          ends.set(name, nextOffset);
          return { outcome: 'done', nextOffset };
        },
        onFatal: (error) => seen.push({ topic, partition: -1, key: String(error), value: {} as CapturedRecord }),
      }),
    ),
  );
  await Promise.all(consumers.map(({ ready }) => ready));

  async function wait<T>(what: string, count: number, find: () => T[]): Promise<T[]> {
    return eventually(
      () => {
        const found = find();
        if (found.length < count) throw new Error(`${found.length} so far`);
        return found;
      },
      { what: `${count} ${what} in the topics` },
    );
  }
  const ofToken = (token: string) => seen.filter(({ value }) => value.token === token);

  return {
    records: (token, count) => wait('records', count, () => ofToken(token)),
    events: (token, count) =>
      wait('events', count, () => ofToken(token).flatMap(({ value }) => (value.kind === 'event' ? [value] : []))),
    warnings: (token, count) =>
      wait('warnings', count, () => ofToken(token).flatMap(({ value }) => (value.kind === 'warning' ? [value] : []))),
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
