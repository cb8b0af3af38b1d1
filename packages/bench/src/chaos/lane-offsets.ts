import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import { createKafkaLog } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import type { Pool } from 'pg';

export interface PartitionView {
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
        // Made anew: nothing of it has taken effect.
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
