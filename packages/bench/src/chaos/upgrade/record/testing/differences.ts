import { fixedDay } from '../requests.ts';

/** Told by a sequence, or counted up by whatever else goes on: only what kind of value it is can be compared. */
const ownOfEachRun = new Set([
  ...['id', 'offset', 'version', 'requestId', 'request_id', 'evaluatedAt', 'next', 'previous', 'live_events_token'],
  ...['dlq_topic', 'dlq_log'],
]);
const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;
/** Version 7: made at the moment. Those of persons are made of their ids. */
const madeUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
/** The recorded requests give their events uuids that begin so. */
const givenUuid = '0199aaaa';

/**
 * What a reader of the older value would miss or find otherwise in the newer one. What the newer has beside is its own affair.
 * Of times of the clock and of uuids that are made at the moment only the kind is compared.
 */
export function differences(older: unknown, newer: unknown, at = ''): string[] {
  if (ownOfEachRun.has(at.slice(at.lastIndexOf('.') + 1)) || isOfTheMoment(older)) {
    const [is, was] = [kindOf(newer), kindOf(older)];
    return is === was ? [] : [`${at} is ${is}, was ${was}`];
  }
  if (Array.isArray(older)) return inLists(older, newer, at);
  if (typeof older === 'object' && older !== null) return inObjects(older, newer, at);
  return Object.is(older, newer) ? [] : [`${at} is ${shown(newer)}, was ${shown(older)}`];
}

function inLists(older: readonly unknown[], newer: unknown, at: string): string[] {
  if (!Array.isArray(newer)) return [`${at} is no list`];
  const count = older.length === newer.length ? [] : [`${at} has ${newer.length} entries, had ${older.length}`];
  const both = older.slice(0, newer.length);
  return [...count, ...both.flatMap((one, index) => differences(one, newer[index], `${at}.${index}`))];
}

function inObjects(older: object, newer: unknown, at: string): string[] {
  if (typeof newer !== 'object' || newer === null) return [`${at} is ${shown(newer)}`];
  const now = newer as Record<string, unknown>;
  return Object.entries(older).flatMap(([key, value]) =>
    key in now ? differences(value, now[key], `${at}.${key}`) : [`${at}.${key} is gone`],
  );
}

function isOfTheMoment(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (time.test(value)) return !value.startsWith(fixedDay);
  return madeUuid.test(value) && !value.startsWith(givenUuid);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'string') return typeof value;
  return time.test(value) ? 'time' : madeUuid.test(value) ? 'uuid' : 'string';
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60);
