// Defines the types of ingestion warnings, and the data of a warning about one event.

import { gatewayWarnings, type JsonObject, type WarningSeverity } from '@millrace/contracts';

/** Every type of ingestion warning with its severity (docs/ingestion-rules.md#warnings). */
export const warningSeverity = {
  // The gateway reports these warnings, and the consumer stores them.
  ...gatewayWarnings,
  // Reported before the rules run, for an event whose UUID belongs to a different event.
  duplicate_event_uuid: 'error',
  // The rules report the following warnings.
  client_ingestion_warning: 'info',
  cannot_merge_already_identified: 'warning',
  cannot_merge_with_illegal_distinct_id: 'warning',
  group_key_too_long: 'error',
  group_type_too_long: 'warning',
  group_type_limit_exceeded: 'warning',
  invalid_group_set: 'warning',
  invalid_process_person_profile: 'warning',
  invalid_event_when_process_person_profile_is_false: 'error',
  invalid_anon_distinct_id: 'error',
  invalid_alias: 'error',
  skipping_event_invalid_distinct_id: 'error',
  person_properties_size_violation: 'error',
  person_properties_not_shown: 'info',
  large_integer_rounded: 'warning',
  group_properties_size_violation: 'error',
  // The following warnings are about cookieless visitors. The first two explain why no events are stored.
  cookieless_mode_disabled: 'error',
  cookieless_unsupported_event: 'error',
  cookieless_missing_user_agent: 'error',
  cookieless_missing_ip: 'error',
  cookieless_missing_host: 'error',
  cookieless_timestamp_out_of_range: 'error',
  // Reported for migrations that the gateway could not check.
  historical_migration_not_in_plan: 'error',
  event_older_than_retention: 'warning',
  event_dead_lettered: 'error',
} as const satisfies Record<string, WarningSeverity>;

export type WarningType = keyof typeof warningSeverity;

/**
 * A warning that the rules report about one event. Its ID is derived from the event and the type, so that the warning
 * is stored only once.
 */
export interface RuleWarning {
  type: WarningType;
  /** Facts that help to fix the cause. Except for IDs, they contain no property values. */
  details: JsonObject;
}
