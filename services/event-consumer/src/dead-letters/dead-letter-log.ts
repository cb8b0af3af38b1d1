import { isAppError } from '@millrace/errors';
import type { AppendRecord, EventLog } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';
import type { DeadLetter } from '../model/dead-letter.ts';

export interface DeadLetterLog {
  /** Resolves when all are durable. @throws AppError `unavailable`; then none of them may be stepped over. */
  append(letters: DeadLetter[]): Promise<void>;
}

export interface DeadLetterLogOptions {
  log: Pick<EventLog, 'append'>;
  topic: string;
  logger: Logger;
  now: () => number;
}

/**
 * The topic of records that cannot be processed: key, value and headers as they came, plus `dlq_reason`, `dlq_step`,
 * `dlq_timestamp`, `dlq_topic`, `dlq_partition`, `dlq_offset`, and `dlq_log`, of which the place is
 * (docs/ingestion-rules.md#dead-letters). At least once: a crash between this and the commit of the offset repeats a
 * letter; readers tell by topic, partition and offset.
 */
export function createDeadLetterLog({ log, topic, logger, now }: DeadLetterLogOptions): DeadLetterLog {
  // A batch that is retried here brings its letters again; those that arrived are not sent twice.
  const arrived = new Set<string>();

  return {
    async append(letters) {
      const fresh = letters.filter((letter) => !arrived.has(nameOf(letter)));
      if (fresh.length === 0) return;
      await appendOrShrink(fresh);
      if (arrived.size > maxRemembered) arrived.clear();
      for (const letter of fresh) arrived.add(nameOf(letter));
    },
  };

  async function appendOrShrink(letters: DeadLetter[]): Promise<void> {
    try {
      await log.append(letters.map((letter) => toRecord(letter, topic, now())));
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
      for (const letter of letters) await appendOne(letter);
    }
  }

  /**
   * The added headers can make a record too large for the log. Its value is then left out; the position says where it
   * still is.
   */
  async function appendOne(letter: DeadLetter): Promise<void> {
    const record = toRecord(letter, topic, now());
    try {
      await log.append([record]);
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
      const { topic: from, partition, offset } = letter.position;
      logger.error('a dead letter is too large, its value stays at its place in the log only', {
        topic: from,
        partition,
        offset: String(offset),
      });
      const headers = { ...record.headers, dlq_value_omitted: 'true' };
      await log.append([{ ...record, value: Buffer.alloc(0), headers }]);
    }
  }
}

const maxRemembered = 10_000;

function nameOf({ position }: DeadLetter): string {
  return `${position.log}/${position.topic}/${position.partition}/${position.offset}`;
}

function toRecord({ record, position, reason, step }: DeadLetter, topic: string, nowMs: number): AppendRecord {
  return {
    topic,
    key: record.key,
    value: record.value,
    headers: {
      ...record.headers,
      dlq_reason: reason,
      dlq_step: step,
      dlq_timestamp: new Date(nowMs).toISOString(),
      dlq_topic: position.topic,
      dlq_partition: String(position.partition),
      dlq_offset: String(position.offset),
      dlq_log: position.log,
    },
  };
}
