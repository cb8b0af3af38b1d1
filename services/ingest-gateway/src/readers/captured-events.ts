import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import { parseRawFields, type RawFields } from '../json/event-fields.ts';
import type { CaptureRequest } from './classic.ts';
import { cutDistinctId, overlongOtherId, readDistinctId } from './distinct-id.ts';
import { createDropTally, type DropSample, type DropTally } from './drops.ts';
import { claimedTime, readEventTime } from './event-time.ts';
import { toUtcText } from './timestamps.ts';
import { type ClientEvent, readName, toCanonicalUuid } from './validate.ts';

/** What the server knows of a request besides its body. */
export interface RequestContext {
  receivedAtMs: number;
  ip: string | null;
  /** Whose key it is; null when no store could say. */
  environmentId: number | null;
  /** The name an event without one gets; null: it is dropped. */
  nameForNameless: string | null;
  createUuid(): string;
}

export interface AcceptedEvent {
  /** Index in the request, from 0. */
  index: number;
  record: CapturedEvent;
  /**
   * Set when the record is to be written with these fields instead of its own, which then hold only what the gateway
   * looks at.
   */
  raw?: RawFields | undefined;
  /** Chooses the partition, together with the key: the person, or the address when there is to be no person. */
  partitionId: string;
  /** Set when the event goes to the overflow lane, with its key, or without one, spread over all partitions. */
  overflow?: 'in_order' | 'spread';
}

export interface CapturedEvents {
  lane: 'live' | 'historical';
  token: string;
  environmentId: number | null;
  /** Arrival, ISO 8601 UTC. */
  now: string;
  accepted: AcceptedEvent[];
  dropped: DropTally;
}

/**
 * Step 5, pure: gives every event its uuid, time and address. An event without a name or a distinct id leaves here
 * alone, the others go on (docs/wire-rules.md#dropped-events).
 *
 * @param dropped where those that leave are counted; the slices of a large request have one in common.
 */
export function toCapturedEvents(
  request: CaptureRequest,
  context: RequestContext,
  dropped: DropTally = createDropTally(),
): CapturedEvents {
  const now = toUtcText(context.receivedAtMs);
  const sentAt = request.sentAtMs === null ? undefined : toUtcText(request.sentAtMs);
  const accepted: AcceptedEvent[] = [];
  const { environmentId } = context;
  const { firstIndex = 0, indexes, drops = [] } = request;
  for (const { cause, count, samples } of drops) dropped.addAll(cause, count, samples);
  for (let number = 0; number < request.events.length; number++) {
    const event = request.events[number];
    if (event === undefined) continue;
    const index = indexes?.[number] ?? firstIndex + number;
    const name = readName(event, context.nameForNameless);
    const sentId = readDistinctId(event);
    if (name === null || sentId === null || name === eventNames.performance) {
      const reason =
        name === null ? 'missing_event_name' : sentId === null ? 'missing_distinct_id' : 'performance_event';
      dropped.add(reason, { index, uuid: readUuid(event), event: name });
      continue;
    }
    const uuid = readUuid(event) ?? context.createUuid();
    const distinctId = cutDistinctId(sentId);
    const time = readEventTime(event, request.sentAtMs, context.receivedAtMs);
    const fields = passedOn(event, name);
    const sample = { index, uuid, event: name };
    if (distinctId !== sentId) {
      dropped.note('distinct_id_truncated', { ...sample, field: 'distinct_id', distinct_id: distinctId });
    }
    if (fields.cut !== undefined) dropped.note('distinct_id_truncated', { ...sample, ...fields.cut });
    if (time.finding !== null) {
      dropped.note(time.finding, { ...sample, timestamp: claimedTime(event) });
    } else if (request.unreadableSentAt !== undefined && claimedTime(event) !== null) {
      // Its time was told by the client's clock, and nobody knows how wrong that is.
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
        token: request.token,
        environment_id: environmentId ?? undefined,
        distinct_id: distinctId,
        event: name,
        timestamp: toUtcText(time.ms),
        now,
        sent_at: sentAt,
        ip,
        cookieless_mode: isCookieless ? true : undefined,
        historical_migration: request.isHistorical ? true : undefined,
        $set: fields.event.$set ?? undefined,
        $set_once: fields.event.$set_once ?? undefined,
        $unset: fields.event.$unset ?? undefined,
        properties,
      },
      raw: fields.raw,
    });
  }
  const lane = request.isHistorical ? 'historical' : 'live';
  return { lane, token: request.token, environmentId, now, accepted, dropped };
}

interface PassedOn {
  event: Pick<ClientEvent, '$set' | '$set_once' | '$unset'> & { properties: JsonObject };
  raw: RawFields | undefined;
  /** The other id of a merge event, when it was too long. */
  cut: Pick<DropSample, 'field' | 'distinct_id'> | undefined;
}

/** The fields that are passed on: parsed when one of them must be changed, else as they were written. */
function passedOn(event: ClientEvent, name: string): PassedOn {
  const { raw, properties = {}, $set, $set_once, $unset } = event;
  const overlong = overlongOtherId(name, properties);
  const fields = { $set, $set_once, $unset, properties };
  if (overlong === null) return { event: fields, raw, cut: undefined };
  const id = cutDistinctId(String(properties[overlong]));
  const whole = raw === undefined ? fields : parseRawFields(raw);
  return {
    event: { ...whole, properties: { ...whole.properties, [overlong]: id } },
    raw: undefined,
    cut: { field: `properties.${overlong}`, distinct_id: id },
  };
}

/** Null when the client gave none. */
function readUuid({ uuid }: ClientEvent): string | null {
  return uuid ? toCanonicalUuid(uuid) : null;
}
