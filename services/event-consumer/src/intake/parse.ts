// Parses log records into events and warnings.

import { isUtf8 } from 'node:buffer';
import {
  type CapturedEvent,
  type CapturedWarning,
  type GatewayWarningType,
  gatewayWarnings,
  isDeeperThan,
  isObject,
  type JsonObject,
} from '@millrace/contracts';
import type { LogBatch, LogRecord } from '@millrace/event-log';
import type { DeadLetterReason, InvalidRecordReason, RecordOwner, UnprocessableRecord } from '../dead-letters.ts';
import type { RecordPosition } from '../model/event.ts';
import { cleanJson, maxNesting, mayNestDeeperThan } from '../values/json.ts';
import { canBeStored, type ReceivedText } from '../values/properties.ts';

export interface ParsedRecords {
  events: { captured: ReceivedEvent; record: LogRecord; position: RecordPosition }[];
  warnings: CapturedWarning[];
  unprocessable: UnprocessableRecord[];
}

export interface ReceivedEvent extends CapturedEvent {
  /** The position of the properties in the record, if they can be stored as they were written. */
  written?: ReceivedText;
}

/**
 * Parses the records of a batch in order. If `deadLetterReason` is not null, all records become dead letters with that
 * reason.
 */
export function parseRecords(batch: LogBatch, deadLetterReason: DeadLetterReason | null): ParsedRecords {
  const parsed: ParsedRecords = { events: [], warnings: [], unprocessable: [] };
  for (const record of batch.records) {
    const position = { log: batch.log, topic: batch.topic, partition: batch.partition, offset: record.offset };
    const content = parseAsWritten(record.value) ?? parseRecord(record.value);
    if (content.kind === 'invalid') {
      parsed.unprocessable.push({
        deadLetter: { record, position, reason: content.reason, step: 'parse_record' },
        owner: ownerOfKey(record),
        eventUuid: null,
        message: content.message,
      });
    } else if (deadLetterReason !== null) {
      parsed.unprocessable.push({
        deadLetter: { record, position, reason: deadLetterReason, step: 'process_batch' },
        owner: content,
        eventUuid: content.uuid,
        message: null,
      });
    } else if (content.kind === 'event') {
      parsed.events.push({ captured: content, record, position });
    } else {
      parsed.warnings.push(content);
    }
  }
  return parsed;
}

/** Returns the owner (token and time) of each record. Omits records without an owner. */
export function listOwners({ events, warnings, unprocessable }: ParsedRecords): RecordOwner[] {
  return [
    ...events.map(({ captured }) => captured),
    ...warnings,
    ...unprocessable.flatMap(({ owner }) => (owner === null ? [] : [owner])),
  ];
}

/**
 * Returns the owner that a record's key contains: `token` or `token:distinct_id` (packages/contracts, recordKey). A
 * token contains no colon.
 */
function ownerOfKey({ key, appendedAtMs }: LogRecord): RecordOwner | null {
  const token = key?.split(':', 1)[0];
  return token === undefined ? null : { token, now: new Date(appendedAtMs).toISOString() };
}

interface InvalidRecord {
  kind: 'invalid';
  reason: InvalidRecordReason;
  /**
   * Describes the problem for the operator who inspects the dead letter. It names the field, but never contains the
   * field's value.
   */
  message: string;
}

type ParsedRecord = ReceivedEvent | CapturedWarning | InvalidRecord;

/**
 * The JSON text before the properties of an event. In a valid record, it cannot occur within a string, because quotes
 * within a string are escaped.
 */
const beforeProperties = Buffer.from(',"properties":');

/**
 * Parses an event in the format that the gateway writes, with the properties at the end and no characters to replace.
 * The bytes of the properties can therefore be stored without changes, which preserves integers above 2^53. Speed is not
 * the reason: `parseRecord` is as fast. @returns null for any other record; use `parseRecord` for those
 */
export function parseAsWritten(value: Buffer): ReceivedEvent | null {
  const at = value.indexOf(beforeProperties);
  if (at === -1 || value.at(-1) !== endOfObject || !isUtf8(value)) return null;
  const written = { value, start: at + beforeProperties.length, end: value.length - 1 };
  const head = `${value.toString('utf8', 0, at)}}`;
  const text = value.toString('utf8', written.start, written.end);
  if (head.includes('\\u') || text.includes('\\u')) return null;
  const record = parseOrNull(head);
  const properties = parseOrNull(text);
  if (!isObject(record) || !isObject(properties)) return null;
  // The record around the properties adds one level of nesting.
  if (isTooDeep(record, head, maxNesting) || isTooDeep(properties, text, maxNesting - 1)) return null;
  record.properties = properties;
  const event = checkRecord(record);
  if (event.kind !== 'event') return null;
  return canBeStored(text) ? Object.assign(event, { written }) : event;
}

const endOfObject = '}'.charCodeAt(0);

function isTooDeep(value: JsonObject, text: string, limit: number): boolean {
  return mayNestDeeperThan(text, limit) && isDeeperThan(value, limit);
}

/**
 * Parses the value of a log record. Never throws. The result contains no NUL and no lone surrogate in any string or
 * key. If a required field (uuid, token, name, distinct ID, properties, receive time) is invalid, rejects the record.
 * Omits a malformed optional field (`sent_at`, `ip`, `$set`, `$set_once`), because the event is more important than the
 * field. `admitRecords` reports a malformed `timestamp`.
 */
export function parseRecord(value: Buffer): ParsedRecord {
  // Decoding replaces invalid UTF-8 bytes with U+FFFD.
  const text = value.toString('utf8');
  const record = readJson(text);
  if (!isObject(record)) return invalid('failed_parse_message', 'The record is not a JSON object.');
  if (isTooDeep(record, text, maxNesting)) {
    return invalid('failed_parse_message', `The record is nested deeper than ${maxNesting} levels.`);
  }
  return checkRecord(record);
}

/** Checks the required fields of a record. @param record a record that is cleaned and not nested too deeply */
function checkRecord(record: JsonObject): ParsedRecord {
  const { kind, uuid, token, now } = record;
  if (uuid === undefined || uuid === null || uuid === '') return invalid('empty_uuid', '`uuid` is missing.');
  if (typeof uuid !== 'string' || !uuidShape.test(uuid)) return invalid('invalid_uuid', '`uuid` is not a UUID.');
  if (typeof token !== 'string' || token === '') return invalid('token_missing', '`token` is missing or not a string.');
  if (typeof now !== 'string' || parseTimestamp(now) === null) {
    return invalid('failed_parse_message', '`now` is not an ISO 8601 time.');
  }
  const head: RecordHead = { uuid: uuid.toLowerCase(), token, now };
  const { environment_id } = record;
  if (isEnvironmentId(environment_id)) head.environment_id = environment_id;
  switch (kind) {
    case 'event':
      return parseEvent(record, head);
    case 'warning':
      return parseWarning(record, head);
    default:
      return invalid('failed_parse_message', '`kind` must be `event` or `warning`.');
  }
}

interface RecordHead {
  uuid: string;
  token: string;
  now: string;
  environment_id?: number;
}

/** Returns whether the value is a valid environment ID. If not, the key of the log record determines the owner. */
function isEnvironmentId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 2_147_483_647;
}

function parseEvent(record: JsonObject, head: RecordHead): CapturedEvent | InvalidRecord {
  const { event, distinct_id, properties, timestamp, sent_at, ip, $set, $set_once, $unset } = record;
  if (typeof event !== 'string' || event === '') {
    return invalid('event_name_missing', '`event` is missing or not a string.');
  }
  if (typeof distinct_id !== 'string' || distinct_id === '') {
    return invalid('distinct_id_missing', '`distinct_id` is missing or not a string.');
  }
  if (!isObject(properties)) return invalid('failed_parse_message', '`properties` is not an object.');
  const captured: CapturedEvent = {
    kind: 'event',
    ...head,
    distinct_id,
    event,
    timestamp: typeof timestamp === 'string' ? timestamp : '',
    ip: typeof ip === 'string' ? ip : null,
    properties,
  };
  if (typeof sent_at === 'string') captured.sent_at = sent_at;
  if (record.cookieless_mode === true) captured.cookieless_mode = true;
  if (record.historical_migration === true) captured.historical_migration = true;
  if (record.plan_unchecked === true) captured.plan_unchecked = true;
  if (record.force_disable_person_processing === true) captured.force_disable_person_processing = true;
  if (isObject($set)) captured.$set = $set;
  if (isObject($set_once)) captured.$set_once = $set_once;
  if ($unset !== undefined) captured.$unset = $unset;
  return captured;
}

function parseWarning(record: JsonObject, head: RecordHead): CapturedWarning | InvalidRecord {
  const { type, count, details } = record;
  if (!isGatewayWarningType(type)) return invalid('failed_parse_message', '`type` is not a known warning type.');
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) {
    return invalid('failed_parse_message', '`count` is not a positive integer.');
  }
  if (!isObject(details)) return invalid('failed_parse_message', '`details` is not an object.');
  return { kind: 'warning', ...head, type, count, details };
}

/** Parses JSON and cleans its strings. Returns null if the text is not JSON. */
function readJson(text: string): unknown {
  const record = parseOrNull(text);
  // In UTF-8 JSON, a NUL or a lone surrogate can be written only as an escape sequence, which almost no record
  // contains.
  if (!text.includes('\\u') || isDeeperThan(record, maxNesting)) return record;
  return cleanJson(record);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isGatewayWarningType(type: unknown): type is GatewayWarningType {
  return typeof type === 'string' && Object.hasOwn(gatewayWarnings, type);
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function invalid(reason: InvalidRecordReason, message: string): InvalidRecord {
  return { kind: 'invalid', reason, message };
}

/**
 * Parses an ISO 8601 time with a time zone, to which the gateway has converted clients' formats. Returns milliseconds
 * since the epoch. Returns null for other formats, and for years that a timestamp column cannot store
 * (docs/wire-rules.md#times).
 */
export function parseTimestamp(text: string): number | null {
  if (!isoTime.test(text)) return null;
  const ms = Date.parse(text);
  return ms >= firstMs && ms <= lastMs ? ms : null;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

const firstMs = Date.parse('0001-01-01T00:00:00.000Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
