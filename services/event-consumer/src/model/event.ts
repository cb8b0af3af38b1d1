import type { JsonObject } from '@millrace/contracts';
import type { Overlay, WrittenProperties } from '../values/properties.ts';
import type { RuleWarning } from './warning.ts';

/** The environment that owns a project API key, as far as event processing needs it. */
export interface IngestProject {
  /** Environment id; the `project_id` of all ingest tables. */
  id: number;
  token: string;
  anonymizeIps: boolean;
  personProcessingOptOut: boolean;
}

/** A project as its key leads to it. What the plan includes matters before the rules, not to them. */
export interface ResolvedProject extends IngestProject {
  /** Whether the organization's plan includes historical migrations (docs/ingestion-rules.md#historical-migrations). */
  mayMigrate: boolean;
  /** Whether visitors without cookies get an id of the day (`cookieless_server_hash_mode`). */
  isCookieless: boolean;
  /** IANA name. */
  timezone: string;
  /** Events older than this are not kept; null: all are. */
  eventRetentionDays: number | null;
}

/** Where a record stood in the log; names it in warnings, dead letters and logs. */
export interface RecordPosition {
  /** The log it is in (`LogBatch.log`): the same position exists in other logs too. */
  log: string;
  topic: string;
  partition: number;
  offset: bigint;
}

/**
 * One event ready for the rules: project known, text clean, `$group_identify` renamed, event-level `$set`, `$set_once`,
 * `$unset` merged into `properties`, `$ip` and `$sent_at` filled in (docs/ingestion-rules.md#before-the-rules).
 */
export interface IncomingEvent {
  /** Found before the rules. */
  warnings: RuleWarning[];
  /** Set when it is dropped, unless it is a duplicate, before any rule sees it. */
  refusal?: Refusal;
  position: RecordPosition;
  project: IngestProject;
  uuid: string;
  /** Name as processed, at most 200 characters. */
  event: string;
  distinctId: string;
  properties: JsonObject;
  /** `properties` as they were written; absent when the text cannot be passed on. */
  written?: WrittenProperties;
  /** Milliseconds since the epoch. */
  timestampMs: number;
  capturedAtMs: number;
  isHistorical: boolean;
  /** Set when the operator, not the sender, wants no person for it; `project` then says the same. */
  isPersonForcedOff?: true;
}

/** The stored event that a uuid belongs to. */
export type UuidOwner = Pick<IncomingEvent, 'event' | 'distinctId'>;

/** An event that is not stored because a different one has its uuid. */
export interface ReusedUuid {
  event: IncomingEvent;
  owner: UuidOwner;
}

/** docs/ingestion-rules.md#the-event-row */
export const personMode = { full: 0, propertyless: 1, forceUpgrade: 2 } as const;
export type PersonMode = (typeof personMode)[keyof typeof personMode];

/** One row of the `event` table, as the rules decide it. */
export interface EventRow {
  projectId: number;
  uuid: string;
  event: string;
  distinctId: string;
  timestampMs: number;
  capturedAtMs: number;
  properties: Overlay;
  /** `properties.under` as it was written, where that can be stored. */
  written?: WrittenProperties;
  elementsChain: string;
  /** The person as of ingestion: uuid, creation time (null for a made-up person of a personless event), properties. */
  personUuid: string;
  personCreatedAtMs: number | null;
  personProperties: JsonObject;
  /** About their size as JSON, as far as they are not the event's own. */
  personBytes: number;
  personMode: PersonMode;
  isHistorical: boolean;
}

/**
 * Why an event is not stored although it was well-formed. Each is a metric label and a warning the project can read, but for
 * `person_deleted`: a warning would name whom it was to forget.
 */
export type DropReason =
  /** The event is a message of its client, and is stored as a warning. */
  | 'client_ingestion_warning'
  | 'group_key_too_long'
  | 'invalid_alias'
  | 'invalid_anon_distinct_id'
  | 'invalid_event_for_flags'
  | 'distinct_id_too_long'
  /** Of visitors without cookies (cookieless/replace-visitors.ts). */
  | 'cookieless_mode_disabled'
  | 'cookieless_unsupported_event'
  | 'cookieless_missing_user_agent'
  | 'cookieless_missing_ip'
  | 'cookieless_missing_host'
  | 'cookieless_timestamp_out_of_range'
  | 'migration_not_in_plan'
  | 'older_than_retention'
  | 'person_deleted';

/** An event that is not stored, and what its project is told about it. */
export interface Refusal {
  reason: DropReason;
  warning: RuleWarning;
}

/** What the rules decided about one event: a value, never an exception. */
export type EventOutcome =
  | { kind: 'store'; row: EventRow; warnings: RuleWarning[] }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };
