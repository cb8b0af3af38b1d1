import { type CapturedRecord, encodeCapturedRecord, recordKey, type TopicNames } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { AppendRecord, EventLog } from '@millrace/event-log';
import { encodeRawRecord } from './encode-raw-record.ts';
import { parseRawFields } from './raw-fields.ts';
import type { AcceptedEvent, CapturedEvents } from './to-captured-events.ts';

export interface PublishOptions {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  maxRecordBytes: number;
  createUuid(): string;
  /** Of every record, e.g. the trace the request belongs to. */
  headers?: Record<string, string> | undefined;
  /** Set when these are not all events of the request; what was dropped is told with the last part. */
  part?: 'more' | 'last' | undefined;
}

/**
 * A large request goes to the log in parts, one after the other: the log's time limit is made for records, not for a
 * hundred megabytes at once, and other requests get their turn in between.
 */
const maxAppendBytes = 2 * 1024 * 1024;

/**
 * Station 6: writes the events in the order of the request, then one warning for each reason events were dropped, and
 * resolves when the log has acknowledged all of them. The lane decides the topic and what keeps its order
 * (ARCHITECTURE.md, "The log").
 *
 * @returns how many events were written.
 * @throws AppError `too_large` when the only event of the request is larger than a record may be; in company such an
 * event is dropped with a warning. `unavailable` when the log did not acknowledge: nothing may be answered with 200.
 */
export async function publish(captured: CapturedEvents, options: PublishOptions): Promise<number> {
  const { log, topics, maxRecordBytes, headers, part } = options;
  const { lane, token, accepted, dropped } = captured;
  const topic = topics[lane];
  let pending: AppendRecord[] = [];
  let pendingBytes = 0;
  let written = 0;

  async function appendPending(): Promise<void> {
    const records = pending;
    pending = [];
    pendingBytes = 0;
    if (records.length === 0) return;
    await log.append(headers === undefined ? records : records.map((record) => ({ ...record, headers })));
  }

  for (const event of accepted) {
    const { index, partitionId, record, overflow } = event;
    const value = encode(event, maxRecordBytes);
    if (value.length > maxRecordBytes) {
      const isAlone = part === undefined && accepted.length === 1 && dropped.counts().size === 0;
      if (isAlone) throw eventTooLarge(maxRecordBytes);
      dropped.add('message_size_too_large', { index, uuid: record.uuid, event: record.event });
      continue;
    }
    const key = overflow === 'spread' ? null : recordKey(lane, token, partitionId);
    pending.push({ topic: overflow === undefined ? topic : topics.overflow, key, value });
    pendingBytes += value.length;
    written += 1;
    if (pendingBytes >= maxAppendBytes) await appendPending();
  }
  const warnings =
    part === 'more' ? [] : dropped.toWarnings({ token, now: captured.now, createUuid: options.createUuid });
  for (const warning of warnings) {
    pending.push(warningRecord(warning, topic, lane === 'historical' ? token : null));
  }
  await appendPending();
  return written;
}

/** Indented JSON, and text in which every character is escaped, are up to three times as long as they need to be. */
const mostEverSaved = 3;

/** As it was written, unless it is too large so: escapes and white space need not be the reason. */
function encode({ record, raw }: AcceptedEvent, maxBytes: number): Buffer {
  if (raw === undefined) return encodeCapturedRecord(record);
  const value = encodeRawRecord(record, raw);
  const isHopeless = value.length > maxBytes * mostEverSaved;
  if (value.length <= maxBytes || isHopeless) return value;
  return encodeCapturedRecord({ ...record, ...parseRawFields(raw) });
}

/** Warnings need no order; without a key those of a busy project do not crowd one partition. */
function warningRecord(warning: CapturedRecord, topic: string, key: string | null): AppendRecord {
  return { topic, key, value: encodeCapturedRecord(warning) };
}

function eventTooLarge(maxRecordBytes: number): AppError {
  return new AppError('too_large', `The event is larger than ${maxRecordBytes} bytes.`, { code: 'event_too_large' });
}
