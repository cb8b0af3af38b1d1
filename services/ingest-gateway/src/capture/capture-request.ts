// The common representation of capture requests in all protocols, and the conversion of their events to log records.

import type { IncomingMessage } from 'node:http';
import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/uploads.ts';
import type { CaptureLimits } from '../config.ts';
import { parseRawFields, positionsPerEvent, type RawFields, readScannedEvent } from '../json/event-fields.ts';
import type { GatewayResponse, Refusal } from '../response/send-response.ts';
import type { CaptureThreads, ScannedEvents } from './body-jobs.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import {
  type ClientEvent,
  findOverlongOtherId,
  readDistinctId,
  readName,
  readUuid,
  truncateDistinctId,
} from './client-event.ts';
import type { DropSample, DropTally } from './drops.ts';
import { formatUtc, readEventTime, readTimestampText } from './event-time.ts';

export interface CaptureRequest {
  /** A well-formed project API key, which may not exist. */
  token: string;
  isHistorical: boolean;
  /** When the client sent the request, by its own clock, in milliseconds since the epoch. Null if unknown. */
  sentAtMs: number | null;
  /** The batch's `sent_at`, if it cannot be parsed and no other send time is known. */
  unreadableSentAt?: string | undefined;
  /** The number of events in the request, including invalid ones. */
  eventCount: number;
  /** Returns the valid events in order, in at least one slice. Other requests are served between slices. */
  slices(): Iterable<EventSlice>;
  /** The original index of each valid event in the request, or undefined if all events are valid. */
  indexes?: ArrayLike<number> | undefined;
  /** Counts and samples of dropped events. Already includes the invalid events. */
  dropped: DropTally;
  omittedParts?: readonly string[] | undefined;
  /** Whether the client sends the events again after 429. All clients do so after 503. */
  retriesOn429: boolean;
  /**
   * Creates the response.
   * @param outcome `accepted` if the log contains all events that were not dropped, or `quota_limited` if no event is
   * stored because the plan's quota is used up
   */
  respond(outcome: 'accepted' | 'quota_limited'): Promise<GatewayResponse>;
}

export interface EventSlice {
  events: readonly ClientEvent[];
  /** The index of the slice's first event among the valid events. */
  first: number;
}

export interface CaptureReader {
  path: string;
  /** The name for events without a name. If null, such events are dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  maxRecordBytes: number;
  /**
   * Whether an event that is too large makes the whole request fail. If false, only the event is dropped, unless it is
   * the only one.
   */
  refusesLargeEvents: boolean;
  /**
   * Receives and parses a request. Large bodies are parsed in another thread.
   * @throws AppError if the request is rejected
   */
  read(request: IncomingMessage, lease: ByteLease): Promise<CaptureRequest>;
  toRefusal(error: unknown): Refusal;
}

export interface ReaderDependencies {
  limits: CaptureLimits;
  uploads: Uploads;
  largeBodies: Pick<CaptureThreads, 'read'>;
  projectKeys: ProjectKeys;
  metrics: CaptureMetrics;
}

/** The number of events per slice. Processing a slice takes a few milliseconds. */
const eventsPerSlice = 128;

/**
 * Divides the events of a request into slices.
 * @param events parsed events, which become one slice, or the events that a thread has found, in slices of
 *   `eventsPerSlice`
 */
export function sliceEvents(events: readonly ClientEvent[] | ScannedEvents): Iterable<EventSlice> {
  return 'json' in events ? scannedSlices(events) : [{ events, first: 0 }];
}

/** Reads a slice's events only when the slice is used. Yields at least one slice, which may be empty. */
function* scannedSlices({ json, slots, length }: ScannedEvents): Iterable<EventSlice> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  for (let first = 0; first === 0 || first < length; first += eventsPerSlice) {
    const events: ClientEvent[] = [];
    for (let number = first; number < Math.min(first + eventsPerSlice, length); number++) {
      events.push(readScannedEvent(bytes, slots, number * positionsPerEvent) as ClientEvent);
    }
    yield { events, first };
  }
}

export interface RequestContext {
  receivedAtMs: number;
  ip: string | null;
  /** The environment of the API key, or null if the key could not be looked up. */
  environmentId: number | null;
  /** The name for events without a name. If null, such events are dropped. */
  nameForNameless: string | null;
  createUuid(): string;
}

export interface AcceptedEvent {
  index: number;
  record: CapturedEvent;
  /**
   * Fields that are copied to the record as unparsed JSON. `record` then contains only the properties that are read.
   */
  raw?: RawFields | undefined;
  /** Determines the partition, together with the key: the distinct ID, or a cookieless event's IP address. */
  partitionId: string;
  /**
   * How the event is sent to the overflow topic: with its key (`in_order`), or spread over all partitions. Absent if it
   * is not sent there.
   */
  overflow?: 'in_order' | 'spread';
}

export interface CapturedEvents {
  topic: 'live' | 'historical';
  token: string;
  environmentId: number | null;
  /** When the gateway received the request, in ISO 8601 format (UTC). */
  now: string;
  accepted: AcceptedEvent[];
  dropped: DropTally;
}

/**
 * Converts events to log records. Drops an event without a name or distinct ID, but keeps the other events
 * (docs/wire-rules.md#dropped-events).
 */
export function toCapturedEvents(
  request: Pick<CaptureRequest, 'token' | 'isHistorical' | 'sentAtMs' | 'unreadableSentAt' | 'indexes' | 'dropped'>,
  slice: EventSlice,
  context: RequestContext,
): CapturedEvents {
  const { token, isHistorical, sentAtMs, indexes, dropped } = request;
  const { receivedAtMs, environmentId } = context;
  const now = formatUtc(receivedAtMs);
  const sentAt = sentAtMs === null ? undefined : formatUtc(sentAtMs);
  const accepted: AcceptedEvent[] = [];
  for (let number = 0; number < slice.events.length; number++) {
    const event = slice.events[number];
    if (event === undefined) continue;
    const index = indexes?.[slice.first + number] ?? slice.first + number;
    const name = readName(event, context.nameForNameless);
    const sentId = readDistinctId(event);
    if (name === null || sentId === null || name === eventNames.performance) {
      const reason =
        name === null ? 'missing_event_name' : sentId === null ? 'missing_distinct_id' : 'performance_event';
      dropped.add(reason, { index, uuid: readUuid(event), event: name });
      continue;
    }
    const uuid = readUuid(event) ?? context.createUuid();
    const distinctId = truncateDistinctId(sentId);
    const time = readEventTime(event, sentAtMs, receivedAtMs);
    const fields = fieldsToCopy(event, name);
    const sample = { index, uuid, event: name };
    if (distinctId !== sentId) {
      dropped.note('distinct_id_truncated', { ...sample, field: 'distinct_id', distinct_id: distinctId });
    }
    if (fields.cut !== undefined) dropped.note('distinct_id_truncated', { ...sample, ...fields.cut });
    if (time.finding !== null) {
      dropped.note(time.finding, { ...sample, timestamp: readTimestampText(event) });
    } else if (request.unreadableSentAt !== undefined && readTimestampText(event) !== null) {
      // The timestamp uses the client's clock, which cannot be corrected without `sent_at`.
      dropped.note('ignored_invalid_timestamp', { ...sample, sent_at: request.unreadableSentAt });
    }
    const { properties } = fields.event;
    const isCookieless = properties.$cookieless_mode === true;
    const ip = 'capture_internal' in properties ? '127.0.0.1' : context.ip;
    accepted.push({
      index,
      partitionId: isCookieless ? (context.ip ?? '') : distinctId,
      record: {
        kind: 'event',
        uuid,
        token,
        environment_id: environmentId ?? undefined,
        distinct_id: distinctId,
        event: name,
        timestamp: formatUtc(time.ms),
        now,
        sent_at: sentAt,
        ip,
        cookieless_mode: isCookieless ? true : undefined,
        historical_migration: isHistorical ? true : undefined,
        $set: fields.event.$set ?? undefined,
        $set_once: fields.event.$set_once ?? undefined,
        $unset: fields.event.$unset ?? undefined,
        properties,
      },
      raw: fields.raw,
    });
  }
  return { topic: isHistorical ? 'historical' : 'live', token, environmentId, now, accepted, dropped };
}

interface CopiedFields {
  event: Pick<ClientEvent, '$set' | '$set_once' | '$unset'> & { properties: JsonObject };
  raw: RawFields | undefined;
  /** How a merge event's second distinct ID was truncated, or undefined if it was not. */
  cut: Pick<DropSample, 'field' | 'distinct_id'> | undefined;
}

/**
 * Returns the fields of the record: as unparsed JSON, or parsed if a merge event's second distinct ID must be
 * truncated.
 */
function fieldsToCopy(event: ClientEvent, name: string): CopiedFields {
  const { raw, properties = {}, $set, $set_once, $unset } = event;
  const overlong = findOverlongOtherId(name, properties);
  const fields = { $set, $set_once, $unset, properties };
  if (overlong === null) return { event: fields, raw, cut: undefined };
  const id = truncateDistinctId(String(properties[overlong]));
  const complete = raw === undefined ? fields : parseRawFields(raw);
  return {
    event: { ...complete, properties: { ...complete.properties, [overlong]: id } },
    raw: undefined,
    cut: { field: `properties.${overlong}`, distinct_id: id },
  };
}
