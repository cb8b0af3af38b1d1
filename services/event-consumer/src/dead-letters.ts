// Writes records that cannot be processed to the dead-letter topic, where operators can inspect and replay them.

import type { AppendRecord, EventLog, LogRecord } from '@millrace/event-log';
import { isAppError, type Logger } from '@millrace/runtime';
import type { RecordPosition } from './model/event.ts';

export interface DeadLetterLog {
  /**
   * Resolves when all dead letters are durable.
   * @throws AppError `unavailable`, in which case the caller must not skip the records
   */
  append(letters: DeadLetter[]): Promise<void>;
}

/**
 * Creates a log for dead letters, which are records that cannot be processed. A dead letter has the original key, value
 * and headers, and the headers `dlq_reason`, `dlq_step`, `dlq_timestamp`, `dlq_topic`, `dlq_partition`, `dlq_offset`
 * and `dlq_log`, which is the ID of the original log (docs/ingestion-rules.md#dead-letters).
 *
 * A dead letter is written at least once. A crash before the offset is committed writes it again. Readers recognize the
 * duplicate by its topic, partition and offset.
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
  // A retried batch contains the same dead letters again. Do not send dead letters that were already written.
  const arrived = new Set<string>();

  return {
    async append(deadLetters) {
      const fresh = deadLetters.filter((deadLetter) => !arrived.has(nameOf(deadLetter)));
      if (fresh.length === 0) return;
      await appendOrShrink(fresh);
      if (arrived.size > maxRemembered) arrived.clear();
      for (const deadLetter of fresh) arrived.add(nameOf(deadLetter));
    },
  };

  async function appendOrShrink(deadLetters: DeadLetter[]): Promise<void> {
    try {
      await log.append(deadLetters.map((deadLetter) => toRecord(deadLetter, topic, now())));
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
      for (const deadLetter of deadLetters) await appendOne(deadLetter);
    }
  }

  /**
   * Writes one dead letter. If the added headers make it too large for the log, leaves out its value, which is still
   * available at its original position.
   */
  async function appendOne(deadLetter: DeadLetter): Promise<void> {
    const record = toRecord(deadLetter, topic, now());
    try {
      await log.append([record]);
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
      const { topic: from, partition, offset } = deadLetter.position;
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

/**
 * Why a record is not a valid event: which required field is missing or malformed
 * (docs/ingestion-rules.md#dead-letters).
 */
export type InvalidRecordReason =
  | 'failed_parse_message'
  | 'empty_uuid'
  | 'invalid_uuid'
  | 'token_missing'
  | 'event_name_missing'
  | 'distinct_id_missing';

/** The reason why a record became a dead letter, which is also a metric label and the header `dlq_reason`. */
export type DeadLetterReason =
  | InvalidRecordReason
  /** No partition of the event table can contain the event's timestamp. */
  | 'timestamp_out_of_range'
  | 'processing_error'
  /** PostgreSQL rejected a value in the event. */
  | 'refused_by_database'
  /** The stored data for the event's IDs is inconsistent, so retrying does not help. */
  | 'ledger_conflict'
  /** The record repeatedly caused a statement timeout, even as the only record in a batch. */
  | 'timed_out';

/** The processing step that failed, which is stored in the header `dlq_step`. */
type DeadLetterStep = 'parse_record' | 'admit_event' | 'process_batch';

/** A record that cannot be processed, with all information needed to inspect and replay it. */
export interface DeadLetter {
  record: LogRecord;
  position: RecordPosition;
  reason: DeadLetterReason;
  step: DeadLetterStep;
}

export interface UnprocessableRecord {
  deadLetter: DeadLetter;
  /** The owner according to the record or its key, or null if neither contains it. */
  owner: RecordOwner | null;
  eventUuid: string | null;
  /** Describes the problem, without data from the record. */
  message: string | null;
}

/** The record fields that show which project sent the record. */
export interface RecordOwner {
  token: string;
  /** The environment that the gateway determined, or undefined if the gateway could not determine it. */
  environment_id?: number | undefined;
  /** When the gateway accepted the record, in ISO 8601 format. The key may have been replaced since then. */
  now: string;
}
