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

/** Logs that were last read before that are not reported. */
const days = 30;

/**
 * Reports the Kafka logs that were read before and are not read any more: what they still hold cannot be seen from
 * here. What is left in the log in PostgreSQL can be seen, and is processed (drain-former-log.ts).
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
