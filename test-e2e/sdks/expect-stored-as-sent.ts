import type { ApiEvent } from '../support/management-client.ts';
import type { SentEvent } from './sent-events.ts';

type Properties = Record<string, unknown>;

/** Compares a stored event with the sent event, field by field. Only the documented additions are allowed. */
export function expectStoredAsSent(row: ApiEvent, sent: SentEvent): void {
  expect(row.event).toBe(sent.event);
  expect(row.distinct_id).toBe(getDistinctId(sent));
  if (sent.uuid) expect(row.uuid).toBe(sent.uuid);
  if (sent.timestamp !== undefined) {
    // The timestamp changes by the time between sending and receiving, because of the clock skew correction.
    expect(Math.abs(Date.parse(row.timestamp) - readTime(sent.timestamp))).toBeLessThan(30_000);
  }
  const { $ip, $sent_at, $group_0, $set = {}, $set_once = {}, ...properties } = row.properties;
  const {
    $set: sentSet = {},
    $set_once: sentSetOnce = {},
    $process_person_profile,
    ...sentProperties
  } = sent.properties;
  // The default value `true` is not stored (docs/ingestion-rules.md#anonymous-events).
  expect(properties).toEqual($process_person_profile === false ? sent.properties : sentProperties);
  expect($ip).toBe('127.0.0.1');
  if ($group_0 !== undefined) expect(sentProperties.$groups).toMatchObject({ company: $group_0 });
  expectWithAdditions(
    $set as Properties,
    { ...(sentSet as Properties), ...sent.$set },
    (name) => sent.properties[name],
  );
  expectWithAdditions($set_once as Properties, { ...(sentSetOnce as Properties), ...sent.$set_once }, (name) => {
    const plain = name.replace(/^\$initial_/, '');
    return sent.properties[`$${plain}`] ?? sent.properties[plain];
  });
}

/**
 * Checks that all sent properties are stored unchanged, and that each added property has the same value as its source
 * property.
 */
function expectWithAdditions(stored: Properties, sent: Properties, source: (name: string) => unknown): void {
  const additions = Object.keys(stored).filter((name) => !(name in sent));
  expect(stored).toEqual({ ...sent, ...Object.fromEntries(additions.map((name) => [name, source(name)])) });
}

export function getDistinctId({ distinct_id, properties }: SentEvent): string {
  return String(distinct_id ?? properties.distinct_id);
}

/** Parses a time. A time without a time zone, as from the Rust SDK, is in UTC. */
function readTime(timestamp: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(timestamp) ? timestamp : `${timestamp}Z`);
}
