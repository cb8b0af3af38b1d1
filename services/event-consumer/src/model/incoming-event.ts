import type { JsonObject } from '@millrace/contracts';
import type { WrittenProperties } from '../values/written-properties.ts';

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
