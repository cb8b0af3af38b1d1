// What each kind of warning means to the project that reads it: what became of the event, in words, and where the rule stands.

/** `dropped`: nothing of the event was stored. `changed`: it was stored, but not all as it was sent. `noted`: it was stored as it was sent. */
export const outcomes = ['dropped', 'changed', 'noted'] as const;

export interface WarningKind {
  outcome: (typeof outcomes)[number];
  /** What happened and what to do, for people. */
  detail: string;
  /** The section of the documents that holds the rule. */
  rule: string;
}

/** What is known of a warning. Kinds of another version have the outcome of their severity. */
export function kindOf({ type, severity }: { type: string; severity: string }): WarningKind {
  const known = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  return known ?? unknownKind(severity);
}

const unknownKind = (severity: string): WarningKind => ({
  outcome: severity === 'error' ? 'dropped' : 'changed',
  detail: 'This version of the API has no words for it. Its details say what happened.',
  rule: 'docs/ingestion-rules.md#warnings',
});

const wire = (section: string) => `docs/wire-rules.md#${section}`;
const ingestion = (section: string) => `docs/ingestion-rules.md#${section}`;
const cookieless = 'docs/settings.md#cookieless-visitors';

const dropped = (rule: string, detail: string): WarningKind => ({ outcome: 'dropped', detail, rule });
const changed = (rule: string, detail: string): WarningKind => ({ outcome: 'changed', detail, rule });
const noted = (rule: string, detail: string): WarningKind => ({ outcome: 'noted', detail, rule });

/** @internal A test looks up the rule of each, and that none of the kinds is missing. */
export const kinds: Readonly<Record<string, WarningKind>> = {
  missing_event_name: dropped(
    wire('dropped-events'),
    'The event has no name. Send a text in event; who calls capture gives it first.',
  ),
  missing_distinct_id: dropped(
    wire('dropped-events'),
    'The event does not say whose it is. Send a text that is not blank in distinct_id.',
  ),
  message_size_too_large: dropped(
    wire('dropped-events'),
    'The event is larger than the server takes. Store large texts elsewhere and send their address.',
  ),
  invalid_event: dropped(
    wire('dropped-events'),
    'An item of the batch is no event, or one of its fields has the wrong type. The samples name the field.',
  ),
  malformed_event_properties: dropped(
    wire('dropped-events'),
    'The properties are nested too deep to be read. Send them flatter.',
  ),
  event_name_too_long: dropped(wire('capture-v1'), 'The name of the event is longer than 200 characters.'),
  invalid_distinct_id: dropped(wire('capture-v1'), 'The distinct id is no text. Send numbers as text.'),
  distinct_id_too_large: dropped(wire('capture-v1'), 'The distinct id is longer than 200 characters.'),
  invalid_event_timestamp: dropped(wire('capture-v1'), 'The time of the event cannot be read. Send it as ISO 8601.'),
  invalid_options: dropped(
    wire('capture-v1'),
    'The options of the event have a wrong shape. The samples name the field.',
  ),
  ignored_invalid_timestamp: changed(
    wire('times'),
    'The time of the event cannot be read or kept, so it has the time of its arrival. Send ISO 8601.',
  ),
  event_timestamp_in_future: changed(
    wire('times'),
    'The time of the event was too far ahead, so it has the time of its arrival. The clock of the client is probably wrong.',
  ),
  distinct_id_truncated: changed(
    wire('distinct-ids'),
    'The distinct id was longer than 200 characters and was cut. Others that begin alike are the same person now.',
  ),
  part_left_out: changed(
    wire('fields-of-an-event'),
    'A part of the event is not text, or did not fit. The event is stored with a note in its place.',
  ),
  quota_limited: dropped(
    wire('quotas-and-limits'),
    'The events that the plan allows in this month are used up. Further ones are dropped until the month ends.',
  ),
  rate_limited: dropped(
    wire('quotas-and-limits'),
    'Requests came faster than the plan allows and were refused. SDKs send again later; a script has to as well.',
  ),
  traffic_spike: noted(
    wire('quotas-and-limits'),
    'The project, or one distinct id, suddenly sent far more than before. Nothing was dropped; look for a loop that sends.',
  ),
  blocked_token: dropped(
    wire('quotas-and-limits'),
    'The operator of this installation drops events of this key, or of this distinct id. Ask them why.',
  ),
  cannot_merge_already_identified: changed(
    ingestion('merges'),
    'Two persons were not merged, as the one that would disappear is identified. The event is stored with its own person.',
  ),
  cannot_merge_with_illegal_distinct_id: changed(
    ingestion('illegal-distinct-ids'),
    'Two persons were not merged, as one of the ids is one that broken clients send for everybody. Send a real id.',
  ),
  skipping_event_invalid_distinct_id: dropped(
    ingestion('before-the-rules'),
    'The distinct id is longer than 400 characters. Nothing of the event was stored.',
  ),
  group_key_too_long: changed(
    ingestion('groups'),
    'The key of a group is longer than 400 characters. The group was left out; a $groupidentify was dropped.',
  ),
  group_type_limit_exceeded: changed(
    ingestion('groups'),
    'The project has five group types already. The event was stored without the group type that its details name.',
  ),
  group_type_too_long: changed(
    ingestion('groups'),
    'The name of a group type is longer than 400 characters. The event was stored without it.',
  ),
  invalid_group_set: changed(
    ingestion('groups'),
    '$group_set is no object, so the group was not changed. Send an object of properties.',
  ),
  group_properties_size_violation: changed(
    ingestion('groups'),
    'The group would have more properties than may be kept. The event was stored, the group was not changed.',
  ),
  invalid_process_person_profile: changed(
    ingestion('anonymous-events'),
    '$process_person_profile is no boolean and counted as true. Send true or false.',
  ),
  invalid_event_when_process_person_profile_is_false: dropped(
    ingestion('anonymous-events'),
    'A merge needs persons, and $process_person_profile is false. Leave it out of $identify and $create_alias.',
  ),
  invalid_anon_distinct_id: dropped(
    ingestion('before-the-rules'),
    '$anon_distinct_id is neither text nor a number. Another value would merge all persons that have it.',
  ),
  invalid_alias: dropped(
    ingestion('before-the-rules'),
    'alias is neither text nor a number. Another value would merge all persons that have it.',
  ),
  client_ingestion_warning: noted(
    ingestion('what-an-event-name-does'),
    'A client reports that it dropped events before sending them, usually because of its own rate limit. Its message is in the details.',
  ),
  duplicate_event_uuid: dropped(
    ingestion('the-event-row'),
    'A different event was stored with the same uuid before. Give each event a uuid of its own, or none.',
  ),
  large_integer_rounded: changed(
    ingestion('person-properties'),
    'A whole number beyond 9007199254740991 was rounded on the person or group. Send such numbers as text.',
  ),
  person_properties_size_violation: changed(
    ingestion('person-properties'),
    'The person would have more properties than may be kept. The event was stored, the person was not changed.',
  ),
  person_properties_not_shown: noted(
    ingestion('person-properties'),
    'The person has so many properties that events do not show all of them. The person still has them.',
  ),
  cookieless_mode_disabled: dropped(
    cookieless,
    'The event asks for visitors without cookies, and the project has that switched off.',
  ),
  cookieless_unsupported_event: dropped(cookieless, 'Visitors without cookies cannot be identified or merged.'),
  cookieless_missing_user_agent: dropped(
    cookieless,
    'Without $raw_user_agent a visitor without cookies cannot be told from others.',
  ),
  cookieless_missing_ip: dropped(
    cookieless,
    'Without an address a visitor without cookies cannot be told from others. Behind a proxy look at TRUST_PROXY.',
  ),
  cookieless_missing_host: dropped(cookieless, 'Without $host a visitor without cookies cannot be told from others.'),
  cookieless_timestamp_out_of_range: dropped(
    cookieless,
    'The event came so late that nobody can tell any more which visitor it was.',
  ),
  historical_migration_not_in_plan: dropped(
    ingestion('historical-migrations'),
    'The plan does not include importing past events.',
  ),
  event_older_than_retention: dropped(
    ingestion('the-event-row'),
    'The event was older than the project keeps events when it came.',
  ),
  event_dead_lettered: dropped(
    ingestion('dead-letters'),
    'The event could not be processed. It waits under dead letters, where it can be sent again once the cause is gone.',
  ),
};
