/**
 * The record that crosses from the ingest gateway to the event consumer: the value of one log record, as JSON.
 * Field names are those of the capture API so that a dead letter can be read by a person.
 */
export type JsonObject = Record<string, unknown>;

/** One accepted event. Everything is already decoded, validated and clock-corrected. */
export interface CapturedEvent {
  kind: 'event';
  /** The client's uuid, else a new v7. Lower case. Identity of the event within its project. */
  uuid: string;
  /** The project API key as sent (trimmed). */
  token: string;
  /**
   * The environment whose key that was when the gateway took the event: nobody asks again, so a key may be replaced
   * meanwhile. Absent when the gateway had no store to ask; the consumer then resolves the key.
   */
  environment_id?: number | undefined;
  /** At most 200 code points; no NUL, no lone surrogate. */
  distinct_id: string;
  /** As sent; no NUL, no lone surrogate. The consumer cuts it to 200 characters. */
  event: string;
  /** Event time after clock-skew correction, ISO 8601 UTC (`2026-11-21T02:30:00.000Z`). */
  timestamp: string;
  /** When the gateway received the request, ISO 8601 UTC. */
  now: string;
  /** When the client says it sent the request, ISO 8601 UTC. Absent when unknown. */
  sent_at?: string;
  /** Client address, null when unknown. It is there whatever the project wants to be stored of it. */
  ip: string | null;
  /** Present and true when the client sets no cookie: the consumer makes the distinct id out of what the request shows. */
  cookieless_mode?: true | undefined;
  /** Present and true for events of a historical migration. */
  historical_migration?: true;
  /**
   * Present and true for an event of a historical migration that was taken while nobody could say whether the project's
   * plan includes migrations. The consumer asks before it stores the event.
   */
  plan_unchecked?: true;
  /**
   * Present and true when the operator wants no person for this event, whatever its properties say; an event that would
   * merge persons is then a plain one (docs/ingestion-rules.md#anonymous-events).
   */
  force_disable_person_processing?: true;
  /** Event-level person updates; the consumer merges them into `properties` (event level wins per key). */
  $set?: JsonObject;
  $set_once?: JsonObject;
  $unset?: unknown;
  properties: JsonObject;
}

/**
 * Something the gateway did not store, or noticed about a project's traffic, reported to the project instead of being
 * lost silently. One record per request and type, or per stretch of time; `count` says how many events it stands for.
 */
export interface CapturedWarning {
  kind: 'warning';
  /** Identity of the warning: delivered twice, it is stored once. */
  uuid: string;
  token: string;
  /** As that of an event. */
  environment_id?: number | undefined;
  type: GatewayWarningType;
  /** How many events this warning stands for, at least 1. */
  count: number;
  now: string;
  /** Facts a person can act on, e.g. `{ samples: [{ index: 3, event: "x", uuid: "…" }] }`; at most 10 samples. */
  details: JsonObject;
}

export type CapturedRecord = CapturedEvent | CapturedWarning;

/** error: an event was dropped. warning: it was kept but changed, or needs a look. info: intended. */
export type WarningSeverity = 'error' | 'warning' | 'info';

/**
 * What the gateway reports, with its severity. The first three are events dropped from an accepted request; their names
 * are known to readers of PostHog (docs/wire-rules.md#dropped-events, docs/ingestion-rules.md#warnings). The consumer has
 * more of its own.
 */
export const gatewayWarnings = {
  missing_event_name: 'error',
  missing_distinct_id: 'error',
  message_size_too_large: 'error',
  /** An item of a batch is no event, or a field of it is of a wrong type; it alone was dropped. */
  invalid_event: 'error',
  /** An event was nested too deep to be looked at; it alone was dropped. */
  malformed_event_properties: 'error',
  /** In Capture v1, which is stricter than the other paths: the event was dropped. */
  event_name_too_long: 'error',
  invalid_distinct_id: 'error',
  distinct_id_too_large: 'error',
  invalid_event_timestamp: 'error',
  invalid_options: 'error',
  /** The time of a stored event could not be read or kept; another one stands in for it. */
  ignored_invalid_timestamp: 'warning',
  /** The time of a stored event was too far ahead; the time of arrival stands in for it. */
  event_timestamp_in_future: 'warning',
  /** An id of a stored event was cut; others that begin alike are the same person now. */
  distinct_id_truncated: 'warning',
  /** A part of a stored event is not text, or did not fit; a note stands in its place. */
  part_left_out: 'warning',
  /** The plan's events of this month are used up; further ones are dropped until the month ends. */
  quota_limited: 'error',
  /** Requests came faster than the plan allows and were refused until later. */
  rate_limited: 'warning',
  /** A project, or one distinct id, suddenly sent far more than before. Nothing was dropped. */
  traffic_spike: 'warning',
  /** The operator's drop list names the key, or the key with the distinct id. */
  blocked_token: 'info',
} as const satisfies Record<string, WarningSeverity>;

export type GatewayWarningType = keyof typeof gatewayWarnings;

/** The value of a log record. */
export function encodeCapturedRecord(record: CapturedRecord): Buffer {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/**
 * Partition key of an event's lane (docs/architecture.md#the-log). Of the key as sent and not of the environment:
 * events that are taken while no store can be asked know nothing else, and have to stay in line with the others.
 */
export function recordKey(lane: 'live' | 'historical' | 'overflow', token: string, distinctId: string): string {
  return lane === 'historical' ? token : `${token}:${distinctId}`;
}
