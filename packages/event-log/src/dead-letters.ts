import {
  type DeadLetterDecision,
  type DeadLetterPosition,
  type DecidedDeadLetter,
  deadLetterName,
} from '@millrace/db/sql';
import type { AppendRecord, LogRecord } from './log.ts';

/** A record of the topic of dead letters (docs/ingestion-rules.md#dead-letters), read for an operator. */
export interface ReadDeadLetter {
  /** Where the record was when it was given up; its name. */
  position: DeadLetterPosition;
  name: string;
  reason: string;
  step: string;
  /** When it was given up. */
  at: Date;
  record: LogRecord;
  /** The log its position is in; empty where it is not known. */
  log: string;
  /** False when it was too large to be carried over; its value is at its position only. */
  hasValue: boolean;
}

/** Null when the record is no dead letter of ours: somebody else wrote to the topic. */
export function toDeadLetter(record: LogRecord): ReadDeadLetter | null {
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
    name: deadLetterName(position),
    reason: dlq_reason ?? 'unknown',
    step: dlq_step ?? 'unknown',
    at: new Date(dlq_timestamp ?? record.appendedAtMs),
    record,
    log: dlq_log,
    hasValue: dlq_value_omitted !== 'true',
  };
}

/** A decision of before the record was given up was about one that had its position in another log. */
export function decisionOn(
  { name, at }: ReadDeadLetter,
  decisions: ReadonlyMap<string, DecidedDeadLetter>,
): DeadLetterDecision | null {
  const decided = decisions.get(name);
  return decided === undefined || decided.at < at ? null : decided.decision;
}

/** The record as it was before it was given up: it goes through its lane again, where the event's uuid makes it one. */
export function toReplayedRecord({ position, record }: ReadDeadLetter): AppendRecord {
  const headers = Object.fromEntries(Object.entries(record.headers).filter(([name]) => !name.startsWith('dlq_')));
  return { topic: position.topic, key: record.key, value: record.value, headers };
}
