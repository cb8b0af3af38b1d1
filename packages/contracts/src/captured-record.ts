/**
 * The record that the ingest gateway sends to the event consumer, as the JSON value of one log record. Field names
 * match the capture API so that dead letters are readable.
 */
export type JsonObject = Record<string, unknown>;

/** One accepted event. It is already decoded and validated, and its times are corrected for clock skew. */
export interface CapturedEvent {
  kind: 'event';
  /** The UUID sent by the client, or a new v7 UUID. Lower case. Unique within the project. */
  uuid: string;
  /** The project API key as sent, trimmed. */
  token: string;
  /**
   * The environment that owned the key when the gateway accepted the event. It is not looked up again, so the key may
   * be replaced in the meantime. Absent if the gateway could not reach the database. The consumer then resolves the
   * key.
   */
  environment_id?: number | undefined;
  /** At most 200 code points, without NUL or lone surrogates. */
  distinct_id: string;
  /** As sent, without NUL or lone surrogates. The consumer cuts it to 200 characters. */
  event: string;
  /** Event time corrected for clock skew, ISO 8601 in UTC (`2026-11-21T02:30:00.000Z`). */
  timestamp: string;
  /** When the gateway received the request, ISO 8601 in UTC. */
  now: string;
  /** When the client says it sent the request, ISO 8601 in UTC. Absent if unknown. */
  sent_at?: string;
  /** Client address, or null if unknown. Always included here, even if the project does not store addresses. */
  ip: string | null;
  /** Present and true if the client sets no cookie. The consumer then derives the distinct id from request data. */
  cookieless_mode?: true | undefined;
  historical_migration?: true;
  /**
   * Present and true for an event of a historical migration that was accepted while the gateway could not check whether
   * the project's plan includes migrations. The consumer checks the plan before it stores the event.
   */
  plan_unchecked?: true;
  /**
   * Present and true if the operator has disabled person processing for this event, regardless of its properties. An
   * event that would merge persons is then stored as a plain event (docs/ingestion-rules.md#anonymous-events).
   */
  force_disable_person_processing?: true;
  /** Event-level person updates. The consumer merges them into `properties`. For each key, the event level wins. */
  $set?: JsonObject;
  $set_once?: JsonObject;
  $unset?: unknown;
  properties: JsonObject;
}

/**
 * Reports to the project that the gateway dropped or changed events, or that its traffic is unusual, so that nothing is
 * lost silently. One record per request and type, or per time span.
 */
export interface CapturedWarning {
  kind: 'warning';
  /** UUID of the warning. A warning that is delivered twice is stored once. */
  uuid: string;
  token: string;
  /** As in `CapturedEvent`. */
  environment_id?: number | undefined;
  type: GatewayWarningType;
  /** How many events this warning covers, at least 1. */
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
 * `error`: an event was dropped. `warning`: an event was stored but changed, or something needs attention. `info`: the
 * effect was intended.
 */
export type WarningSeverity = 'error' | 'warning' | 'info';

/**
 * The warning types of the gateway and their severity. The first three are for events dropped from an accepted request
 * and have the names that PostHog uses (docs/wire-rules.md#dropped-events, docs/ingestion-rules.md#warnings). The
 * consumer has additional types.
 */
export const gatewayWarnings = {
  missing_event_name: 'error',
  missing_distinct_id: 'error',
  message_size_too_large: 'error',
  /** An item of a batch is not an event, or one of its fields has the wrong type. Only this item was dropped. */
  invalid_event: 'error',
  /** An event was nested too deeply to be processed. Only this event was dropped. */
  malformed_event_properties: 'error',
  /** Only in Capture v1, which is stricter than the other paths. The event was dropped. */
  event_name_too_long: 'error',
  invalid_distinct_id: 'error',
  distinct_id_too_large: 'error',
  invalid_event_timestamp: 'error',
  invalid_options: 'error',
  /** The time of a stored event was unreadable or out of range and was replaced. */
  ignored_invalid_timestamp: 'warning',
  /** The time of a stored event was too far in the future and was replaced by the time of arrival. */
  event_timestamp_in_future: 'warning',
  /** An id of a stored event was truncated. Ids with the same beginning now belong to the same person. */
  distinct_id_truncated: 'warning',
  /** A part of a stored event was not valid text or did not fit. It was replaced by a note. */
  part_left_out: 'warning',
  /** The plan's events for this month are used up. Further events are dropped until the month ends. */
  quota_limited: 'error',
  /** Requests exceeded the plan's rate limit and were rejected. Clients can retry them later. */
  rate_limited: 'warning',
  /** A project or a distinct id suddenly sent far more events than before. Nothing was dropped. */
  traffic_spike: 'warning',
  /** The operator's drop list contains the key, or the key with the distinct id. */
  blocked_token: 'info',
} as const satisfies Record<string, WarningSeverity>;

export type GatewayWarningType = keyof typeof gatewayWarnings;

export function encodeCapturedRecord(record: CapturedRecord): Buffer {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/**
 * Returns the partition key for an event's topic (docs/architecture.md#the-log). It is based on the key as sent instead
 * of the environment: the environment is not known for events that are accepted while the database is unreachable, and
 * these must stay in order with the others.
 */
export function recordKey(topic: 'live' | 'historical' | 'overflow', token: string, distinctId: string): string {
  return topic === 'historical' ? token : `${token}:${distinctId}`;
}
