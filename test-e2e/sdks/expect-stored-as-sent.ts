import type { ApiEvent } from '../support/management-client.ts';
import type { SentEvent } from './sent-events.ts';

type Properties = Record<string, unknown>;

/** Compares a row with what the SDK put on the wire, field by field, and admits only the additions that are promised. */
export function expectStoredAsSent(row: ApiEvent, sent: SentEvent): void {
  expect(row.event).toBe(sent.event);
  expect(row.distinct_id).toBe(distinctIdOf(sent));
  if (sent.uuid) expect(row.uuid).toBe(sent.uuid);
  if (sent.timestamp !== undefined) {
    // The clock-skew correction moves it by what lies between sending and receiving.
    expect(Math.abs(Date.parse(row.timestamp) - readTime(sent.timestamp))).toBeLessThan(30_000);
  }
  const { $ip, $sent_at, $group_0, $set = {}, $set_once = {}, ...properties } = row.properties;
  const {
    $set: sentSet = {},
    $set_once: sentSetOnce = {},
    $process_person_profile,
    ...sentProperties
  } = sent.properties;
  // `true` is what is done anyway and is not stored (docs/ingestion-rules.md#anonymous-events).
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

/** Everything sent is there as it was; what was added says the same as the property it was made of. */
function expectWithAdditions(stored: Properties, sent: Properties, source: (name: string) => unknown): void {
  const additions = Object.keys(stored).filter((name) => !(name in sent));
  expect(stored).toEqual({ ...sent, ...Object.fromEntries(additions.map((name) => [name, source(name)])) });
}

export function distinctIdOf({ distinct_id, properties }: SentEvent): string {
  return String(distinct_id ?? properties.distinct_id);
}

/** A time without a zone is meant as UTC (Rust). */
function readTime(timestamp: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(timestamp) ? timestamp : `${timestamp}Z`);
}
