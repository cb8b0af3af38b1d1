import type { SqlDatabase } from '@millrace/db/sql';
import { type EventLog, readKafkaLogs, type TopicGroup } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';

export interface ReportFormerLogsDeps {
  database: Pick<SqlDatabase, 'sql'>;
  /** The log that is consumed, where it is Kafka. */
  log: Pick<EventLog, 'endOffsets'> | null;
  readers: readonly TopicGroup[];
  logger: Logger;
}

/** What was left longer ago is no surprise to anybody. */
const days = 30;

/**
 * Names the logs of Kafka that were read and no longer are: what they hold unread cannot be seen from here. What is left in
 * PostgreSQL can, and is processed (drain-former-log.ts).
 */
export async function reportFormerLogs({ database, log, readers, logger }: ReportFormerLogsDeps): Promise<void> {
  const read = await readKafkaLogs(database.sql, readers, days);
  for (const { topic, group, log: id, readAt } of read) {
    const ends = log === null ? [] : await log.endOffsets(topic);
    if (ends.some((end) => end.log === id)) continue;
    logger.warn(
      'another log was read before this one; what it holds unread is processed when it is consumed again. If it is gone for good: millrace offsets forget',
      { topic, group, log: id, lastReadAt: readAt.toISOString() },
    );
  }
}
