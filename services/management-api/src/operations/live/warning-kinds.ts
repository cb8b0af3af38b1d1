// Describes each kind of warning to the project's members: what happened to the event, and which documentation section
// contains the rule.

/**
 * Possible outcomes. `dropped`: the event was not stored at all. `changed`: the event was stored with changes. `noted`:
 * the event was stored as it was sent.
 */
export const outcomes = ['dropped', 'changed', 'noted'] as const;

export interface WarningKind {
  outcome: (typeof outcomes)[number];
  detail: string;
  rule: string;
}

/**
 * Finds the outcome, explanation and rule for a warning. If the kind is unknown, because another version of Millrace
 * wrote the warning, its severity determines the outcome.
 */
export function findWarningKind({ type, severity }: { type: string; severity: string }): WarningKind {
  const known = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  return known ?? unknownKind(severity);
}

const unknownKind = (severity: string): WarningKind => ({
  outcome: severity === 'error' ? 'dropped' : 'changed',
  detail: 'This API version does not recognize this warning type. The details show what happened.',
  rule: 'docs/ingestion-rules.md#warnings',
});

const wire = (section: string) => `docs/wire-rules.md#${section}`;
const ingestion = (section: string) => `docs/ingestion-rules.md#${section}`;
const cookieless = 'docs/settings.md#cookieless-visitors';

const dropped = (rule: string, detail: string): WarningKind => ({ outcome: 'dropped', detail, rule });
const changed = (rule: string, detail: string): WarningKind => ({ outcome: 'changed', detail, rule });
const noted = (rule: string, detail: string): WarningKind => ({ outcome: 'noted', detail, rule });

/** @internal Exported for a test that compares the kinds with the rules. */
export const kinds: Readonly<Record<string, WarningKind>> = {
  missing_event_name: dropped(
    wire('dropped-events'),
    'The event has no name. Send a non-empty string in the field event. In SDKs, this is the event name that is passed to capture.',
  ),
  missing_distinct_id: dropped(
    wire('dropped-events'),
    'The event has no distinct ID. Send a non-blank string in the field distinct_id.',
  ),
  message_size_too_large: dropped(
    wire('dropped-events'),
    'The event is larger than the server accepts. Store large values elsewhere and send their URL.',
  ),
  invalid_event: dropped(
    wire('dropped-events'),
    'An item in the batch is not a valid event, or one of its fields has the wrong type. The samples show which field.',
  ),
  malformed_event_properties: dropped(
    wire('dropped-events'),
    'The event properties are nested too deeply to be read. Send properties with fewer levels.',
  ),
  event_name_too_long: dropped(
    wire('capture-v1'),
    'The event name is longer than 200 characters. Send a shorter name.',
  ),
  invalid_distinct_id: dropped(wire('capture-v1'), 'The distinct ID is not a string. Send numbers as strings.'),
  distinct_id_too_large: dropped(
    wire('capture-v1'),
    'The distinct ID is longer than 200 characters. Send a shorter one.',
  ),
  invalid_event_timestamp: dropped(
    wire('capture-v1'),
    "The event's timestamp cannot be read. Send it in ISO 8601 format.",
  ),
  invalid_options: dropped(
    wire('capture-v1'),
    "The event's options have the wrong format. The samples show which field.",
  ),
  ignored_invalid_timestamp: changed(
    wire('times'),
    "The event's timestamp cannot be read or stored, so the time at which the event was received was used instead. Send " +
      'timestamps in ISO 8601 format.',
  ),
  event_timestamp_in_future: changed(
    wire('times'),
    "The event's timestamp was too far in the future, so the time at which the event was received was used instead. The " +
      "client's clock is probably wrong.",
  ),
  distinct_id_truncated: changed(
    wire('distinct-ids'),
    'The distinct ID was longer than 200 characters and was truncated. Distinct IDs that begin with the same 200 ' +
      'characters now belong to the same person.',
  ),
  part_left_out: changed(
    wire('event-fields'),
    'Part of the event was not valid text or was too large. The event was stored with a note instead of that part.',
  ),
  quota_limited: dropped(
    wire('quotas-and-limits'),
    "The plan's monthly event limit has been reached. Further events are dropped until the end of the month.",
  ),
  rate_limited: dropped(
    wire('quotas-and-limits'),
    'Requests exceeded the rate that the plan allows and were rejected. SDKs retry these requests automatically. Scripts must retry them as well.',
  ),
  traffic_spike: noted(
    wire('quotas-and-limits'),
    'The project or a single distinct ID suddenly sent far more events than before. Nothing was dropped. Check your ' +
      'code for a loop that sends events.',
  ),
  blocked_token: dropped(
    wire('quotas-and-limits'),
    'The operator of this installation drops events with this API key or distinct ID. Ask the operator for the reason.',
  ),
  cannot_merge_already_identified: changed(
    ingestion('merges'),
    'Two persons were not merged, because the person that would disappear is already identified. The event was stored with the person that its distinct ID belongs to.',
  ),
  cannot_merge_with_illegal_distinct_id: changed(
    ingestion('illegal-distinct-ids'),
    'Two persons were not merged, because one of the distinct IDs is a placeholder that broken clients send for ' +
      'every user. Send a real distinct ID.',
  ),
  skipping_event_invalid_distinct_id: dropped(
    ingestion('before-the-rules'),
    'The distinct ID is longer than 400 characters. The event was not stored.',
  ),
  group_key_too_long: changed(
    ingestion('groups'),
    'The group key is longer than 400 characters. Events were stored without the group, and $groupidentify events were dropped.',
  ),
  group_type_limit_exceeded: changed(
    ingestion('groups'),
    'The project already has five group types. The event was stored without the group type shown in the details.',
  ),
  group_type_too_long: changed(
    ingestion('groups'),
    'The group type name is longer than 400 characters. The event was stored without this group type.',
  ),
  invalid_group_set: changed(
    ingestion('groups'),
    '$group_set is not an object, so the group was not changed. Send an object with properties.',
  ),
  group_properties_size_violation: changed(
    ingestion('groups'),
    'This update would exceed the size limit of group properties. The event was stored, but the group was not changed.',
  ),
  invalid_process_person_profile: changed(
    ingestion('anonymous-events'),
    '$process_person_profile is not a boolean, so it was treated as true. Send true or false.',
  ),
  invalid_event_when_process_person_profile_is_false: dropped(
    ingestion('anonymous-events'),
    'Identifying or aliasing a person requires person processing, but $process_person_profile is false. Leave this property out ' +
      'of $identify and $create_alias events.',
  ),
  invalid_anon_distinct_id: dropped(
    ingestion('before-the-rules'),
    '$anon_distinct_id is neither a string nor a number. Any other value could merge unrelated persons who share the same value. Send a string.',
  ),
  invalid_alias: dropped(
    ingestion('before-the-rules'),
    'alias is neither a string nor a number. Any other value could merge unrelated persons who share the same value. Send a string.',
  ),
  client_ingestion_warning: noted(
    ingestion('effects-of-event-names'),
    'A client reported that it dropped events before sending them, usually because of its own rate limit. The details contain its message.',
  ),
  duplicate_event_uuid: dropped(
    ingestion('the-event-row'),
    'A different event with the same UUID was already stored. Send a unique UUID with each event, or omit the UUID.',
  ),
  large_integer_rounded: changed(
    ingestion('person-properties'),
    'An integer larger than 9007199254740991 was rounded in a person or group property. Send large numbers as strings.',
  ),
  person_properties_size_violation: changed(
    ingestion('person-properties'),
    'This update would exceed the size limit of person properties. The event was stored, but the person was not changed.',
  ),
  person_properties_not_shown: noted(
    ingestion('person-properties'),
    'The person has so many properties that its events include only some of them. The person keeps all of its properties.',
  ),
  cookieless_mode_disabled: dropped(
    cookieless,
    'The event requests cookieless tracking, but cookieless tracking is turned off for the project.',
  ),
  cookieless_unsupported_event: dropped(cookieless, 'Cookieless visitors cannot be identified or merged.'),
  cookieless_missing_user_agent: dropped(
    cookieless,
    'Without $raw_user_agent, cookieless visitors cannot be told apart.',
  ),
  cookieless_missing_ip: dropped(
    cookieless,
    'Without an IP address, cookieless visitors cannot be told apart. Behind a proxy, check the TRUST_PROXY setting.',
  ),
  cookieless_missing_host: dropped(cookieless, 'Without $host, cookieless visitors cannot be told apart.'),
  cookieless_timestamp_out_of_range: dropped(
    cookieless,
    'The event arrived too late to determine which cookieless visitor sent it.',
  ),
  historical_migration_not_in_plan: dropped(
    ingestion('historical-migrations'),
    'The plan does not include importing historical events.',
  ),
  event_older_than_retention: dropped(
    ingestion('the-event-row'),
    "The event was already older than the project's retention period when it arrived.",
  ),
  event_dead_lettered: dropped(
    ingestion('dead-letters'),
    'The event could not be processed and is now a dead letter. You can replay it once the cause is fixed.',
  ),
};
