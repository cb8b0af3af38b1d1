import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import type { PrismaClient } from '@millrace/db';
import { type InspectedTopic, inspectKafka, type KafkaInspection } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import type { LogSettings } from '../log/open-log.ts';
import { readStoredOffsets } from '../log/stored-offsets.ts';
import { unreadRecords } from '../log/unread-records.ts';

/** What consumers will do with a lane when they start. */
export interface LaneReplay {
  topic: string;
  /** Which log it is read from. */
  log: string;
  /** Where the database says that it has read nothing of this log: then it is read from its start. */
  isKnown: boolean;
  unread: number;
  deleted: number;
}

const questionTimeoutMs = 10_000;

/** Lanes whose topic is not there yet are left out: nothing of them can be read. */
export async function replayOfLanes(
  prisma: Pick<PrismaClient, 'consumer_position' | 'event_log_partition'>,
  { config, connection }: LogSettings,
): Promise<LaneReplay[]> {
  const logger = createLogger('millrace-cli', 'error');
  logger.silent = true;
  const kafka = inspectKafka({ ...connection, clientId: 'millrace-cli', logger }, questionTimeoutMs);
  try {
    const names = topicNames(config.topicPrefix);
    const topics = await inspect(
      kafka,
      lanes.map((lane) => names[lane]),
    );
    const offsets = await readStoredOffsets(prisma, { endOffsets: async () => [] });
    return lanes.flatMap((lane) => {
      const found = topics.find(({ topic }) => topic === names[lane]);
      if (found === undefined) return [];
      const ours = offsets.filter(({ group }) => group === consumerGroup(lane, config.topicPrefix));
      const { unread, deleted } = unreadRecords(found, ours);
      const isKnown = ours.some(({ topic, log }) => topic === found.topic && log === found.log);
      return [{ topic: found.topic, log: found.log, isKnown, unread: Number(unread), deleted: Number(deleted) }];
    });
  } finally {
    await kafka.close();
  }
}

async function inspect(kafka: KafkaInspection, names: readonly string[]): Promise<InspectedTopic[]> {
  const existing = await kafka.existing(names);
  return Promise.all(existing.map((name) => kafka.topic(name)));
}
