import { consumerGroup, eventTopics, topicNames } from '@millrace/contracts';
import { createKafkaLog } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import type { Pool } from 'pg';

interface Partition {
  /** The log that `end` belongs to. Processed offsets of a different log are ignored. */
  log: string;
  end: number;
  offset: number;
  movedAt: number;
}

/** Creates a reader that returns the end offset and the processed offset of each partition. */
export function createOffsetReader(broker: string, database: Pool, topicPrefix: string) {
  const topics = eventTopics.map((topic) => topicNames(topicPrefix)[topic]);
  // Include only the groups that store events. Other groups read the same topics.
  const groups = eventTopics.map((topic) => consumerGroup(topic, topicPrefix));
  const logger = createLogger('partition watch', 'error');
  logger.silent = true;
  const log = createKafkaLog({ brokers: [broker], clientId: 'partition-watch', logger });
  const partitions = new Map<string, Partition>();

  const partitionOf = (name: string) => {
    const partition = partitions.get(name) ?? { log: '', end: 0, offset: 0, movedAt: performance.now() };
    partitions.set(name, partition);
    return partition;
  };

  return {
    partitions,
    async readEnds(): Promise<void> {
      for (const topic of topics) {
        for (const { partition, log: of, endOffset } of await log.endOffsets(topic)) {
          const found = partitionOf(`${topic} ${partition}`);
          // If a topic was recreated, none of its records have been processed.
          if (found.log !== of) found.offset = 0;
          found.log = of;
          found.end = Number(endOffset);
        }
      }
    },
    async readOffsets(): Promise<void> {
      const { rows } = await database.query<{ name: string; log: string; next_offset: string }>(
        `SELECT topic || ' ' || partition AS name, log, next_offset FROM consumer_offset WHERE topic = ANY($1) AND "group" = ANY($2)`,
        [topics, groups],
      );
      const now = performance.now();
      for (const { name, log: of, next_offset } of rows) {
        const partition = partitionOf(name);
        if (partition.log !== of) continue;
        if (Number(next_offset) !== partition.offset) partition.movedAt = now;
        partition.offset = Number(next_offset);
      }
      for (const partition of partitions.values()) if (partition.offset >= partition.end) partition.movedAt = now;
    },
    lag: () => [...partitions.values()].reduce((sum, { end, offset }) => sum + Math.max(0, end - offset), 0),
    stop: () => log.close(),
  };
}
