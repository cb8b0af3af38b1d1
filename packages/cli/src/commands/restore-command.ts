// `millrace restore finish`: completes a recovery after PostgreSQL was restored from a backup or failed over.

import { consumerGroup, eventTopics, topicNames } from '@millrace/contracts';
import type { PrismaClient } from '@millrace/db';
import { createKafkaInspector, type InspectedTopic, type KafkaInspector } from '@millrace/event-log';
import { requestCopyAfterRestore } from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import type { Command } from 'commander';
import { countUnreadRecords, type LogSettings, readLogSettings, readStoredOffsets } from '../event-log.ts';
import { Refusal } from '../failures.ts';
import type { Terminal } from '../output.ts';
import { withSession } from '../session.ts';
import { advanceSequences, isInRecovery } from './restore-store.ts';

export function addFinishRestoreCommand(program: Command, terminal: Terminal): void {
  const commands = program
    .command('restore')
    .description('complete the recovery after PostgreSQL was restored from a backup or failed over');
  commands
    .command('finish')
    .description(
      'run this before consumers start. Prevents IDs and versions issued since the backup from being reused, makes running services ' +
        'reload their caches, and shows which records will be processed again. Safe to repeat. ' +
        'Requires the same EVENT_LOG, KAFKA_… and TOPIC_PREFIX settings as the consumers. Exits with code 1 if records that must be ' +
        'processed again are no longer in the log',
    )
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, prisma, printer, change }) => {
        const settings = readLogSettings(terminal);
        if (await isInRecovery(sql)) {
          throw new Refusal(
            '--database-url: PostgreSQL is still in recovery. Wait until it ends, or promote the server.',
          );
        }
        await change(async (tx) => {
          await advanceSequences(tx);
          await requestCopyAfterRestore(tx);
        });
        printer.note('IDs and versions were advanced. Running services will reload their caches.');
        if (settings.config.eventLog === 'postgres') {
          printer.note(
            'The event log was restored together with the database. Records that it lacks cannot be recovered.',
          );
          return;
        }
        const replay = await readReplayedTopics(prisma, settings);
        printer.table(replay.map((topic) => ({ ...topic })));
        for (const topic of replay) if (!topic.isKnown) printer.note(explainUnknown(topic));
        const lost = replay.reduce((sum, { deleted }) => sum + deleted, 0);
        if (lost > 0)
          throw new Error(
            `Kafka has deleted ${lost} records that the restored database has not processed. These records are lost.`,
          );
      }),
    );
}

const explainUnknown = ({ topic }: TopicReplay) =>
  `${topic}: The backup has no offsets for this log, so the topic is read from its start. Events that are already stored are skipped.`;

/** The records of a topic that consumers will read again when they are started. */
interface TopicReplay {
  topic: string;
  log: string;
  /** Whether the database has offsets for this log. If not, consumers read the log from its start. */
  isKnown: boolean;
  unread: number;
  deleted: number;
}

const responseTimeoutMs = 10_000;

/** Returns the number of records that consumers will read again, by topic. Omits topics that do not exist yet. */
async function readReplayedTopics(
  prisma: Pick<PrismaClient, 'consumer_offset' | 'event_log_partition'>,
  { config, connection }: LogSettings,
): Promise<TopicReplay[]> {
  const logger = createLogger('millrace-cli', 'error');
  logger.silent = true;
  const kafka = createKafkaInspector({ ...connection, clientId: 'millrace-cli', logger }, responseTimeoutMs);
  try {
    const names = topicNames(config.topicPrefix);
    const topics = await inspect(
      kafka,
      eventTopics.map((one) => names[one]),
    );
    const offsets = await readStoredOffsets(prisma, { endOffsets: async () => [] });
    return eventTopics.flatMap((eventTopic) => {
      const found = topics.find(({ topic }) => topic === names[eventTopic]);
      if (found === undefined) return [];
      const ours = offsets.filter(({ group }) => group === consumerGroup(eventTopic, config.topicPrefix));
      const { unread, deleted } = countUnreadRecords(found, ours);
      const isKnown = ours.some(({ topic, log }) => topic === found.topic && log === found.log);
      return [{ topic: found.topic, log: found.log, isKnown, unread: Number(unread), deleted: Number(deleted) }];
    });
  } finally {
    await kafka.close();
  }
}

async function inspect(kafka: KafkaInspector, names: readonly string[]): Promise<InspectedTopic[]> {
  const existing = await kafka.existing(names);
  return Promise.all(existing.map((name) => kafka.topic(name)));
}
