/**
 * The record that the ingest gateway sends to the event consumer, as the JSON value of one log record. Field names are
 * those of the capture API, so that dead letters are easy to read.
 */
export type JsonObject = Record<string, unknown>;

/** One accepted event, decoded and validated, with its times corrected for the client's clock. */
export interface CapturedEvent {
  kind: 'event';
  /** The client's UUID or a new v7 UUID, in lower case. Unique within the project. */
  uuid: string;
  /** The project API key as sent, trimmed. */
  token: string;
  /**
   * The environment to which the key belonged when the gateway accepted the event. Replacing the key afterwards does
   * not affect the event. Absent if the gateway could not reach the database. The consumer then looks up the key.
   */
  environment_id?: number | undefined;
  /** The distinct ID: at most 200 code points, without NUL or lone surrogates. */
  distinct_id: string;
  /**
   * The event name as the client sent it, without NUL or lone surrogates. The consumer truncates it to 200 characters.
   */
  event: string;
  /** The event time, corrected for the client's clock, in ISO 8601 in UTC (`2026-11-21T02:30:00.000Z`). */
  timestamp: string;
  /** When the gateway received the request, in ISO 8601 in UTC. */
  now: string;
  /** When the client sent the request, according to the client's clock, in ISO 8601 in UTC. Absent if unknown. */
  sent_at?: string;
  /** The client's IP address, or null if unknown. Present even if the project does not store IP addresses. */
  ip: string | null;
  /**
   * True for an event of a cookieless visitor, for whom the consumer derives the distinct ID from request data.
   * Otherwise absent.
   */
  cookieless_mode?: true | undefined;
  historical_migration?: true;
  /**
   * True for an event of a historical migration if the gateway could not check whether the project's plan includes
   * migrations. The consumer then checks the plan before it stores the event. Otherwise absent.
   */
  plan_unchecked?: true;
  /**
   * True if the operator has disabled person processing for this event, and otherwise absent. An event that would merge
   * persons is then stored as an ordinary event, whatever its properties (docs/ingestion-rules.md#anonymous-events).
   */
  force_disable_person_processing?: true;
  /**
   * Person updates that the client sent outside of `properties`. The consumer merges them into `properties`. If a key
   * is in both, this field takes precedence.
   */
  $set?: JsonObject;
  $set_once?: JsonObject;
  $unset?: unknown;
  properties: JsonObject;
}

/**
 * A warning for a project: the gateway dropped or changed its events, or its traffic is unusual. One record covers one
 * warning type in one request, or in a period of time.
 */
export interface CapturedWarning {
  kind: 'warning';
  /** The warning's UUID, so that a warning that is delivered twice is stored once. */
  uuid: string;
  token: string;
  /** The environment ID, as in `CapturedEvent`. */
  environment_id?: number | undefined;
  type: GatewayWarningType;
  /** Number of events to which this warning applies, at least 1. */
  count: number;
  now: string;
  /**
   * Facts that help to fix the problem, for example `{ samples: [{ index: 3, event: "x", uuid: "…" }] }`. At most 10
   * samples.
   */
  details: JsonObject;
}

export type CapturedRecord = CapturedEvent | CapturedWarning;

/**
 * `error` means that an event was dropped. `warning` means that an event was changed but stored, or that something
 * needs attention. `info` means that the effect was intended.
 */
export type WarningSeverity = 'error' | 'warning' | 'info';

/**
 * The gateway's warning types and their severity. The first three report events dropped from an accepted request and
 * have PostHog's names (docs/wire-rules.md#dropped-events, docs/ingestion-rules.md#warnings). The consumer has
 * additional types.
 */
export const gatewayWarnings = {
  missing_event_name: 'error',
  missing_distinct_id: 'error',
  message_size_too_large: 'error',
  /** An item of a batch was not an event, or a field had the wrong type. Only this item was dropped. */
  invalid_event: 'error',
  /** An event was nested too deeply to be processed. Only this event was dropped. */
  malformed_event_properties: 'error',
  /** This event was dropped. Only Capture v1, which is stricter than the other protocols, reports this problem. */
  event_name_too_long: 'error',
  invalid_distinct_id: 'error',
  distinct_id_too_large: 'error',
  invalid_event_timestamp: 'error',
  invalid_options: 'error',
  /** A stored event's time could not be parsed or was out of range, and was replaced. */
  ignored_invalid_timestamp: 'warning',
  /** A stored event's time was too far in the future, and was replaced with the arrival time. */
  event_timestamp_in_future: 'warning',
  /** A stored event's distinct ID was truncated. IDs with the same beginning now belong to the same person. */
  distinct_id_truncated: 'warning',
  /** A field of a stored event was not a valid string or was too large, and was replaced with a note. */
  part_left_out: 'warning',
  /** The plan's monthly event quota is used up. Events are dropped until the month ends. */
  quota_limited: 'error',
  /** Requests exceeded the plan's rate limit and were rejected. Clients can retry them. */
  rate_limited: 'warning',
  /** A project or a distinct ID suddenly sent far more events than before. Nothing was dropped. */
  traffic_spike: 'warning',
  /** The operator's drop list contains the key, or the key together with the distinct ID. */
  blocked_token: 'info',
} as const satisfies Record<string, WarningSeverity>;

export type GatewayWarningType = keyof typeof gatewayWarnings;

export function encodeCapturedRecord(record: CapturedRecord): Buffer {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/**
 * Returns the partition key of an event in a topic (docs/architecture.md#the-log). The key contains the project API key
 * as it was sent, and not the environment ID. While the database is unreachable, the environment is unknown, and events
 * accepted in that time must stay in order with all other events.
 */
export function computeRecordKey(topic: 'live' | 'historical' | 'overflow', token: string, distinctId: string): string {
  return topic === 'historical' ? token : `${token}:${distinctId}`;
}
