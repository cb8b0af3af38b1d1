import type { EventRow } from './event-row.ts';
import type { RuleWarning } from './warning.ts';

/**
 * Why an event is not stored although it was well-formed. Each is a metric label and a warning the project can read, but for
 * `person_deleted`: a warning would name whom it was to forget.
 */
export type DropReason =
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

/** What the rules decided about one event: a value, never an exception. */
export type EventOutcome =
  | { kind: 'store'; row: EventRow; warnings: RuleWarning[] }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };
