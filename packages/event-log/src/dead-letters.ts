// Reads dead letters, and prepares their records for dead-letter replay.

import {
  type DeadLetterDecision,
  type DeadLetterPosition,
  type DecidedDeadLetter,
  toDeadLetterName,
} from '@millrace/db/sql';
import type { AppendRecord, LogRecord } from './log.ts';

/** A dead letter (docs/ingestion-rules.md#dead-letters), decoded for an operator. */
export interface DecodedDeadLetter {
  /** The original position of the record that could not be processed. It identifies the dead letter. */
  position: DeadLetterPosition;
  name: string;
  reason: string;
  step: string;
  at: Date;
  record: LogRecord;
  /** The ID of the log that contained the original record, or an empty string if unknown. */
  log: string;
  /**
   * Whether the dead letter contains the record's value. If the record was too large for the dead-letter topic, its
   * value is available only at the original position.
   */
  hasValue: boolean;
}

/** Decodes a dead letter. Returns null for a record that Millrace did not write. */
export function decodeDeadLetter(record: LogRecord): DecodedDeadLetter | null {
  const {
    dlq_reason,
    dlq_step,
    dlq_timestamp,
    dlq_topic,
    dlq_partition,
    dlq_offset,
    dlq_log = '',
    dlq_value_omitted,
  } = record.headers;
  if (!dlq_topic || !/^\d+$/.test(dlq_partition ?? '') || !/^\d+$/.test(dlq_offset ?? '')) return null;
  const position = { topic: dlq_topic, partition: Number(dlq_partition), offset: BigInt(dlq_offset ?? 0) };
  return {
    position,
    name: toDeadLetterName(position),
    reason: dlq_reason ?? 'unknown',
    step: dlq_step ?? 'unknown',
    at: new Date(dlq_timestamp ?? record.appendedAtMs),
    record,
    log: dlq_log,
    hasValue: dlq_value_omitted !== 'true',
  };
}

/**
 * Returns the operator's decision about a dead letter. Ignores a decision that is older than the dead letter, because
 * it was about a record at the same position in a different log.
 */
export function findDeadLetterDecision(
  { name, at }: DecodedDeadLetter,
  decisions: ReadonlyMap<string, DecidedDeadLetter>,
): DeadLetterDecision | null {
  const decided = decisions.get(name);
  return decided === undefined || decided.at < at ? null : decided.decision;
}

/**
 * Restores the original record, so that it can be appended to its topic and processed again. The event's UUID prevents
 * duplicates.
 */
export function toReplayedRecord({ position, record }: DecodedDeadLetter): AppendRecord {
  const headers = Object.fromEntries(Object.entries(record.headers).filter(([name]) => !name.startsWith('dlq_')));
  return { topic: position.topic, key: record.key, value: record.value, headers };
}
