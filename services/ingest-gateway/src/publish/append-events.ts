import {
  type CapturedEvent,
  type CapturedRecord,
  computeRecordKey,
  encodeCapturedRecord,
  type TopicNames,
} from '@millrace/contracts';
import type { AppendRecord, EventLog } from '@millrace/event-log';
import { AppError } from '@millrace/runtime';
import type { AcceptedEvent, CapturedEvents } from '../capture/capture-request.ts';
import { createDropTally, type DropSample } from '../capture/drops.ts';
import { parseRawFields, type RawFields, type RawValue } from '../json/event-fields.ts';
import type { Sender } from '../request-head.ts';

/**
 * The maximum size of an append. A larger request is appended in several steps, because the log's time limit is too
 * short for a hundred megabytes. Other requests are served between these steps.
 */
const maxAppendBytes = 2 * 1024 * 1024;

/** Appends a request's events to the event log, slice by slice. */
export interface EventAppender {
  /** Adds events. Waits for the event log only if many records are pending. */
  add(captured: CapturedEvents): Promise<void>;
  /**
   * Appends all pending records and the warnings.
   * @param last the last slice. Its tally contains the dropped events of all slices.
   */
  end(last: CapturedEvents): Promise<void>;
  eventCount(): number;
}

/**
 * Writes a request's events in order, and then one warning for each reason why events were dropped. All records are
 * durable when the promises of `add` and `end` have resolved. The topic determines which events stay in order
 * (docs/architecture.md#the-log).
 *
 * An event that is too large for a record is dropped with a warning. If `refusesLarge` is set, the request is rejected
 * instead.
 *
 * @throws AppError `too_large`, after a warning was written, or `unavailable` if the log did not acknowledge the
 * records. The response must not be 200 in these cases.
 */
export function createEventAppender(options: {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  maxRecordBytes: number;
  refusesLarge: boolean;
  sender: Sender;
  createUuid(): string;
  headers?: Record<string, string> | undefined;
}): EventAppender {
  const { log, topics, maxRecordBytes, refusesLarge, headers } = options;
  let pending: AppendRecord[] = [];
  let pendingBytes = 0;
  let eventCount = 0;

  async function appendPending(): Promise<void> {
    const records = pending;
    pending = [];
    pendingBytes = 0;
    if (records.length === 0) return;
    await log.append(headers === undefined ? records : records.map((record) => ({ ...record, headers })));
  }

  function putWarnings({ topic, token, environmentId, now, dropped }: CapturedEvents): void {
    const { sender, createUuid } = options;
    for (const warning of dropped.toWarnings({ sender, token, environmentId, now, createUuid }))
      pending.push(warningRecord(warning, topics[topic], topic === 'historical' ? token : null));
  }

  /** Rejects the request, writes a warning, and discards the pending events. */
  async function refuse(captured: CapturedEvents, record: CapturedRecord, sample: DropSample): Promise<never> {
    pending = [];
    const dropped = createDropTally();
    dropped.add('message_size_too_large', sample);
    putWarnings({ ...captured, dropped });
    await appendPending();
    throw eventTooLarge(record, maxRecordBytes);
  }

  async function put(captured: CapturedEvents, event: AcceptedEvent): Promise<void> {
    const { topic, token, dropped } = captured;
    const { index, partitionId, record, overflow } = event;
    const value = encode(event, maxRecordBytes);
    if (value.length > maxRecordBytes) {
      const { uuid, event: name } = record;
      const sample = { index, uuid, event: name, bytes: value.length, max_bytes: maxRecordBytes };
      if (refusesLarge) return refuse(captured, record, sample);
      dropped.add('message_size_too_large', sample);
      return;
    }
    const key = overflow === 'spread' ? null : computeRecordKey(topic, token, partitionId);
    pending.push({ topic: topics[overflow === undefined ? topic : 'overflow'], key, value });
    pendingBytes += value.length;
    eventCount += 1;
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
    eventCount: () => eventCount,
  };
}

/**
 * The maximum size of a record that is serialized again. Indented JSON, or strings in which each character is escaped,
 * take up to three times the necessary size. Serializing a larger record again would block other requests for too long.
 */
const maxRewrittenBytes = 3_000_000;

/**
 * Encodes a record by copying the raw fields. If the record is too large, serializes it again without white space and
 * unnecessary escapes.
 */
function encode({ record, raw }: AcceptedEvent, maxBytes: number): Buffer {
  if (raw === undefined) return encodeCapturedRecord(record);
  const value = encodeRawRecord(record, raw);
  if (value.length <= maxBytes || value.length > maxRewrittenBytes) return value;
  return encodeCapturedRecord({ ...record, ...parseRawFields(raw) });
}

/**
 * Encodes a warning. Warnings need no order, so they have no key, and a busy project's warnings are spread over the
 * partitions.
 */
function warningRecord(warning: CapturedRecord, topic: string, key: string | null): AppendRecord {
  return { topic, key, value: encodeCapturedRecord(warning) };
}

function eventTooLarge({ uuid }: CapturedRecord, maxRecordBytes: number): AppError {
  const detail = `The event ${uuid} is larger than ${maxRecordBytes} bytes.`;
  return new AppError('too_large', detail, { code: 'event_too_large' });
}

/**
 * Encodes a log record like `encodeCapturedRecord`, but copies the raw fields as they were sent. Parsing and
 * serializing them would be most of an event's cost.
 */
function encodeRawRecord(record: CapturedEvent, raw: RawFields): Buffer {
  const { $set, $set_once, $unset, properties } = raw;
  const head = headOf(record);
  const size = Buffer.byteLength(head) + room($set, 8) + room($set_once, 13) + room($unset, 10);
  const value = Buffer.allocUnsafe(size + (properties === null ? 16 : room(properties, 14)) + 1);
  let at = value.write(head, 0, 'utf8');
  if ($set !== null) at = copy(value, at, ',"$set":', raw.json, $set);
  if ($set_once !== null) at = copy(value, at, ',"$set_once":', raw.json, $set_once);
  if ($unset !== null) at = copy(value, at, ',"$unset":', raw.json, $unset);
  if (properties === null) at += value.write(',"properties":{}', at, 'latin1');
  else at = copy(value, at, ',"properties":', raw.json, properties);
  value[at] = 0x7d;
  return value;
}

/** Returns the record fields that the gateway adds or has parsed. */
function headOf(record: CapturedEvent): string {
  const { uuid, token, distinct_id: distinctId, event, timestamp, now, sent_at: sentAt, ip } = record;
  const stamp = record.environment_id === undefined ? '' : `"environment_id":${record.environment_id},`;
  let head = `{"kind":"event","uuid":"${uuid}","token":${JSON.stringify(token)},${stamp}"distinct_id":${JSON.stringify(distinctId)},"event":${JSON.stringify(event)},"timestamp":"${timestamp}","now":"${now}"`;
  if (sentAt !== undefined) head += `,"sent_at":"${sentAt}"`;
  head += ip === null ? ',"ip":null' : `,"ip":${JSON.stringify(ip)}`;
  if (record.cookieless_mode) head += ',"cookieless_mode":true';
  if (record.historical_migration) head += ',"historical_migration":true';
  if (record.plan_unchecked) head += ',"plan_unchecked":true';
  if (record.force_disable_person_processing) head += ',"force_disable_person_processing":true';
  return head;
}

function room(value: RawValue | null, nameBytes: number): number {
  return value === null ? 0 : nameBytes + value.end - value.start;
}

function copy(target: Buffer, start: number, name: string, json: Buffer, value: RawValue): number {
  const at = start + target.write(name, start, 'latin1');
  return at + json.copy(target, at, value.start, value.end);
}
