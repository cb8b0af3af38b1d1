import type { LogRecord } from '@millrace/event-log';
import type { RecordPosition } from './incoming-event.ts';

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
export type DeadLetterStep = 'parse_record' | 'admit_event' | 'process_batch';

/** A record that cannot be processed, with everything needed to look at it and to replay it. */
export interface DeadLetter {
  record: LogRecord;
  position: RecordPosition;
  reason: DeadLetterReason;
  step: DeadLetterStep;
}
