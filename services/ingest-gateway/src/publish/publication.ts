import { type CapturedRecord, encodeCapturedRecord, recordKey, type TopicNames } from '@millrace/contracts';
import type { AppendRecord, EventLog } from '@millrace/event-log';
import { AppError } from '@millrace/runtime';
import type { Sender } from '../head.ts';
import { parseRawFields } from '../json/event-fields.ts';
import type { AcceptedEvent, CapturedEvents } from '../readers/captured-events.ts';
import { createDropTally, type DropSample } from '../readers/drops.ts';
import { encodeRawRecord } from './records.ts';

/**
 * A large request is appended in slices, one after the other. The log's time limit is made for records, not for a
 * hundred megabytes at once, and other requests are served between the slices.
 */
const maxAppendBytes = 2 * 1024 * 1024;

/** The events of one request on their way to the log, when they come in several slices. */
export interface Publication {
  /** Waits for the log only when enough records have been gathered. */
  add(captured: CapturedEvents): Promise<void>;
  /**
   * Waits for the log when records are left.
   *
   * @param last tells what was dropped of all slices.
   */
  end(last: CapturedEvents): Promise<void>;
  /** How many events were given to the log. */
  written(): number;
}

/**
 * Writes the events in the order of the request, then one warning for each reason events were dropped. All are
 * durable when what `add` and `end` returned has been waited for. The lane decides the topic and what keeps its order
 * (docs/architecture.md#the-log).
 *
 * @throws AppError `too_large`, after a warning was written, when an event is larger than a record may be and `refusesLarge` is
 * set; otherwise the event is dropped with a warning. `unavailable` when the log did not acknowledge: nothing may be answered with 200.
 */
export function createPublication(options: {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  maxRecordBytes: number;
  refusesLarge: boolean;
  sender: Sender;
  createUuid(): string;
  /** Of every record, e.g. the trace the request belongs to. */
  headers?: Record<string, string> | undefined;
}): Publication {
  const { log, topics, maxRecordBytes, refusesLarge, headers } = options;
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

  function putWarnings({ lane, token, environmentId, now, dropped }: CapturedEvents): void {
    const { sender, createUuid } = options;
    for (const warning of dropped.toWarnings({ sender, token, environmentId, now, createUuid }))
      pending.push(warningRecord(warning, topics[lane], lane === 'historical' ? token : null));
  }

  /** The request is refused, and its project gets a warning. Events that are not in the log yet never get there. */
  async function refuse(captured: CapturedEvents, record: CapturedRecord, sample: DropSample): Promise<never> {
    pending = [];
    const dropped = createDropTally();
    dropped.add('message_size_too_large', sample);
    putWarnings({ ...captured, dropped });
    await appendPending();
    throw eventTooLarge(record, maxRecordBytes);
  }

  async function put(captured: CapturedEvents, event: AcceptedEvent): Promise<void> {
    const { lane, token, dropped } = captured;
    const { index, partitionId, record, overflow } = event;
    const value = encode(event, maxRecordBytes);
    if (value.length > maxRecordBytes) {
      const { uuid, event: name } = record;
      const sample = { index, uuid, event: name, bytes: value.length, max_bytes: maxRecordBytes };
      if (refusesLarge) return refuse(captured, record, sample);
      dropped.add('message_size_too_large', sample);
      return;
    }
    const key = overflow === 'spread' ? null : recordKey(lane, token, partitionId);
    pending.push({ topic: overflow === undefined ? topics[lane] : topics.overflow, key, value });
    pendingBytes += value.length;
    written += 1;
  }

  return {
    async add(captured) {
      for (const event of captured.accepted) {
        await put(captured, event);
        if (pendingBytes >= maxAppendBytes) await appendPending();
      }
    },
    async end(last) {
      putWarnings(last);
      await appendPending();
    },
    written: () => written,
  };
}

/**
 * Indented JSON, and text in which every character is escaped, take up to three times as many bytes as needed. Larger ones are
 * not parsed for that: it would block other requests for too long.
 */
const maxRewrittenBytes = 3_000_000;

/** As it was written, unless it is too large that way: perhaps only because of escapes and white space. */
function encode({ record, raw }: AcceptedEvent, maxBytes: number): Buffer {
  if (raw === undefined) return encodeCapturedRecord(record);
  const value = encodeRawRecord(record, raw);
  if (value.length <= maxBytes || value.length > maxRewrittenBytes) return value;
  return encodeCapturedRecord({ ...record, ...parseRawFields(raw) });
}

/** Warnings need no order. Without a key the warnings of a busy project are spread over the partitions. */
function warningRecord(warning: CapturedRecord, topic: string, key: string | null): AppendRecord {
  return { topic, key, value: encodeCapturedRecord(warning) };
}

function eventTooLarge({ uuid }: CapturedRecord, maxRecordBytes: number): AppError {
  const detail = `The event ${uuid} is larger than ${maxRecordBytes} bytes.`;
  return new AppError('too_large', detail, { code: 'event_too_large' });
}
