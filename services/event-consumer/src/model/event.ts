// Types for an event at each stage from the log record to the database row.

import type { JsonObject } from '@millrace/contracts';
import type { Overlay, ReceivedProperties } from '../values/properties.ts';
import type { RuleWarning } from './warning.ts';

/** The environment to which a project API key belongs, with the settings that event processing needs. */
export interface IngestProject {
  /** The environment ID, which the ingest tables call `project_id`. */
  id: number;
  token: string;
  anonymizeIps: boolean;
  personProcessingOptOut: boolean;
}

/** A project with the settings that apply before the rules, such as plan limits. */
export interface ResolvedProject extends IngestProject {
  /** Whether the organization's plan includes historical migrations (docs/ingestion-rules.md#historical-migrations). */
  mayMigrate: boolean;
  /** Whether cookieless visitors get a daily ID (`cookieless_server_hash_mode`). */
  isCookieless: boolean;
  timezone: string;
  /** Events older than this number of days are not stored. Null for no limit. */
  eventRetentionDays: number | null;
}

/** A record's position in the log, which identifies it in warnings, dead letters and application logs. */
export interface RecordPosition {
  /** The log ID (`LogBatch.log`), which is needed because records of different logs can have the same position. */
  log: string;
  topic: string;
  partition: number;
  offset: bigint;
}

/**
 * An event that is ready for the rules. Its project is known, its strings are clean, and `$group_identify` is renamed
 * to `$groupidentify`. `$set`, `$set_once` and `$unset` from outside of the properties are merged into `properties`,
 * and `$ip` and `$sent_at` are set (docs/ingestion-rules.md#before-the-rules).
 */
export interface IncomingEvent {
  warnings: RuleWarning[];
  /** Why the event is dropped before the rules are applied. Ignored if the event is a duplicate. */
  refusal?: Refusal;
  position: RecordPosition;
  project: IngestProject;
  uuid: string;
  /** The normalized event name, with at most 200 characters. */
  event: string;
  distinctId: string;
  properties: JsonObject;
  /** The received JSON text of `properties`, or undefined if that text cannot be stored without changes. */
  written?: ReceivedProperties;
  timestampMs: number;
  capturedAtMs: number;
  isHistorical: boolean;
  /** True if the operator, not the sender, turned person processing off. The settings in `project` then say so too. */
  isPersonForcedOff?: true;
}

export type UuidOwner = Pick<IncomingEvent, 'event' | 'distinctId'>;

/** An event that is not stored because a different event has the same UUID. */
export interface ReusedUuid {
  event: IncomingEvent;
  owner: UuidOwner;
}

/** The values of `person_mode` (docs/ingestion-rules.md#the-event-row). */
export const personMode = { full: 0, propertyless: 1, forceUpgrade: 2 } as const;
export type PersonMode = (typeof personMode)[keyof typeof personMode];

export interface EventRow {
  projectId: number;
  uuid: string;
  event: string;
  distinctId: string;
  timestampMs: number;
  capturedAtMs: number;
  properties: Overlay;
  /** The received JSON text of `properties.under`, if that text can be stored. */
  written?: ReceivedProperties;
  elementsChain: string;
  /**
   * The UUID of the person at ingestion. The next two fields are its creation time (null for the computed person of an
   * event without person processing) and its properties.
   */
  personUuid: string;
  personCreatedAtMs: number | null;
  personProperties: JsonObject;
  /** The approximate size of the person properties as JSON, or 0 if the properties are from the event itself. */
  personBytes: number;
  personMode: PersonMode;
  isHistorical: boolean;
}

/**
 * Why a well-formed event is not stored. Each reason is a metric label and also a warning for the project. The
 * exception is `person_deleted`: a warning would name the deleted person.
 */
export type DropReason =
  /** A client sends this event to report a problem. The report is stored as a warning. */
  | 'client_ingestion_warning'
  | 'group_key_too_long'
  | 'invalid_alias'
  | 'invalid_anon_distinct_id'
  | 'invalid_event_for_flags'
  | 'distinct_id_too_long'
  /** The following reasons apply to cookieless visitors (cookieless/replace-visitors.ts). */
  | 'cookieless_mode_disabled'
  | 'cookieless_unsupported_event'
  | 'cookieless_missing_user_agent'
  | 'cookieless_missing_ip'
  | 'cookieless_missing_host'
  | 'cookieless_timestamp_out_of_range'
  | 'migration_not_in_plan'
  | 'older_than_retention'
  | 'person_deleted';

export interface Refusal {
  reason: DropReason;
  warning: RuleWarning;
}

/** The rules' decision about one event. The rules never throw because of an event. */
export type EventOutcome =
  | { kind: 'store'; row: EventRow; warnings: RuleWarning[] }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };
