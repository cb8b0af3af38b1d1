import type { AppendRecord, EventLog, LogRecord } from '@millrace/event-log';
import { isAppError, type Logger } from '@millrace/runtime';
import type { RecordPosition } from './model/event.ts';

export interface DeadLetterLog {
  /** Resolves when all are durable. @throws AppError `unavailable`; then none of them may be stepped over. */
  append(letters: DeadLetter[]): Promise<void>;
}

/**
 * The topic of records that cannot be processed: key, value and headers as they came, plus `dlq_reason`, `dlq_step`,
 * `dlq_timestamp`, `dlq_topic`, `dlq_partition`, `dlq_offset`, and `dlq_log`, of which the place is
 * (docs/ingestion-rules.md#dead-letters). At least once: a crash between this and the commit of the offset repeats a
 * letter; readers tell by topic, partition and offset.
 */
export function createDeadLetterLog({
  log,
  topic,
  logger,
  now,
}: {
  log: Pick<EventLog, 'append'>;
  topic: string;
  logger: Logger;
  now: () => number;
}): DeadLetterLog {
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
      logger.error('dead letter is too large for the event log; stored without its value', {
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

/** What a record lacks, or has wrong, that an event cannot be without (docs/ingestion-rules.md#dead-letters). */
export type InvalidRecordReason =
  | 'failed_parse_message'
  | 'empty_uuid'
  | 'invalid_uuid'
  | 'token_missing'
  | 'event_name_missing'
  | 'distinct_id_missing';

/** Why a record was given up; a metric label and the header `dlq_reason`. */
export type DeadLetterReason =
  | InvalidRecordReason
  /** No partition of the event table can hold its time. */
  | 'timestamp_out_of_range'
  /** The rules failed on it: a mistake of ours. */
  | 'processing_error'
  /** PostgreSQL would not take one of its values. */
  | 'refused_by_database'
  /** What is stored about its ids contradicts itself; deciding it again does not help. */
  | 'ledger_conflict'
  /** By itself, too, it made a statement take longer than one may, again and again. */
  | 'timed_out';

/** Where the record failed; the header `dlq_step`. */
type DeadLetterStep = 'parse_record' | 'admit_event' | 'process_batch';

/** A record that cannot be processed, with everything needed to look at it and to replay it. */
export interface DeadLetter {
  record: LogRecord;
  position: RecordPosition;
  reason: DeadLetterReason;
  step: DeadLetterStep;
}

/** A record that is to become a dead letter, with what is known about its owner. */
export interface UnprocessableRecord {
  letter: DeadLetter;
  /** From the record, or from its key; null when neither tells. */
  owner: RecordOwner | null;
  eventUuid: string | null;
  /** What is wrong, without any value of the record. */
  message: string | null;
}

/** What a record says about who owns it. */
export interface RecordOwner {
  token: string;
  /** What the gateway found out; absent when it could not ask. */
  environment_id?: number | undefined;
  /** When the record was taken, ISO 8601; a key may have been replaced since. */
  now: string;
}
