import type { ClientEvent } from './client-event.ts';
import { readEventTime, readSentAt } from './event-time.ts';

const day = '2026-11-21T';
const at = (time: string) => Date.parse(`${day}${time}Z`);
const now = at('12:00:00');
const year2020 = String(Date.UTC(2020, 11, 31, 23));

/** @param query the query parameter `_` */
function timeOf(event: ClientEvent, sentAt?: unknown, query: string | null = null): string {
  return new Date(readEventTime(event, readSentAt(sentAt, query), now).ms).toISOString();
}

describe('the time of an event that arrives at 12:00:00', () => {
  test.each<[string, ClientEvent, unknown, string]>([
    ['time-001 only a timestamp', { timestamp: `${day}11:00:00Z` }, undefined, '11:00:00.000'],
    ['time-002 a clock that is 5 s ahead', { timestamp: `${day}11:59:55Z` }, `${day}12:00:05Z`, '11:59:50.000'],
    ['time-003 a clock that is 10 s ahead', { timestamp: `${day}11:00:00Z` }, `${day}12:00:10Z`, '10:59:50.000'],
    ['time-003 a clock that is 10 s behind', { timestamp: `${day}11:00:00Z` }, `${day}11:59:50Z`, '11:00:10.000'],
    [
      'time-003 with the clock ignored',
      { timestamp: `${day}11:00:00Z`, properties: { $ignore_sent_at: true } },
      `${day}12:00:10Z`,
      '11:00:00.000',
    ],
    [
      'only true ignores the clock',
      { timestamp: `${day}11:00:00Z`, properties: { $ignore_sent_at: 'true' } },
      `${day}12:00:10Z`,
      '10:59:50.000',
    ],
    ['a skew of a year', { timestamp: '2025-11-21T11:00:00Z' }, '2025-11-21T12:00:00Z', '11:00:00.000'],
    ['time-006 no timestamp', {}, undefined, '12:00:00.000'],
    ['time-006 no timestamp, but sent_at', {}, `${day}11:00:00Z`, '12:00:00.000'],
    ['a null timestamp', { timestamp: null }, undefined, '12:00:00.000'],
    ['time-007 an invalid timestamp', { timestamp: 'yesterday' }, undefined, '12:00:00.000'],
    ['time-008 only an offset', { offset: 5000 }, undefined, '11:59:55.000'],
    [
      'time-008 offset with a timestamp',
      { offset: 5000, timestamp: `${day}01:00:00Z` },
      `${day}12:00:10Z`,
      '11:59:55.000',
    ],
    ['a null offset', { offset: null, timestamp: `${day}11:00:00Z` }, undefined, '11:00:00.000'],
    ['time-009 23 h ahead exactly', { timestamp: '2026-11-22T11:00:00.000Z' }, undefined, '2026-11-22T11:00:00.000'],
    ['time-009 1 ms more', { timestamp: '2026-11-22T11:00:00.001Z' }, undefined, '12:00:00.000'],
    ['the far future by offset', { offset: -90_000_000 }, undefined, '12:00:00.000'],
    ['the far past by offset', { offset: 9_000_000_000_000_000 }, undefined, '1970-01-01T00:00:00.000'],
    ['a year before the first', { timestamp: '0000-06-01T00:00:00Z' }, undefined, '1970-01-01T00:00:00.000'],
    [
      'year 0 by a clock that is ahead',
      { timestamp: '0001-01-01T00:00:00Z' },
      `${day}12:00:10Z`,
      '1970-01-01T00:00:00.000',
    ],
    [
      'year 0 because of its time zone',
      { timestamp: '0001-01-01T00:00:00+02:00' },
      undefined,
      '1970-01-01T00:00:00.000',
    ],
    ['year 10000 by a clock', { timestamp: '2026-11-21T12:00:00Z' }, '0001-06-01T00:00:00Z', '12:00:00.000'],
    ['the first year', { timestamp: '0001-06-01T00:00:00Z' }, undefined, '0001-06-01T00:00:00.000'],
    ['Unix seconds', { timestamp: at('11:00:00') / 1000 }, undefined, '11:00:00.000'],
    ['Unix seconds with a fraction', { timestamp: at('11:00:00') / 1000 + 0.25 }, undefined, '11:00:00.250'],
    ['Unix milliseconds', { timestamp: at('11:00:00') }, undefined, '11:00:00.000'],
    ['Unix milliseconds as a string', { timestamp: String(at('11:00:00')) }, undefined, '11:00:00.000'],
    [
      'Unix milliseconds of a clock that is 10 s ahead',
      { timestamp: at('11:00:00') },
      `${day}12:00:10Z`,
      '10:59:50.000',
    ],
    ['a number that is not a time', { timestamp: 5 }, undefined, '12:00:00.000'],
    ['time-010 an invalid sent_at', { timestamp: `${day}11:00:00Z` }, 'soon', '11:00:00.000'],
    ['time-010 sent_at without a time zone', { timestamp: `${day}11:00:00Z` }, `${day}12:00:10`, '11:00:00.000'],
    ['time-010 sent_at as a number', { timestamp: `${day}11:00:00Z` }, now, '11:00:00.000'],
    ['sent_at with a time zone', { timestamp: `${day}11:00:00Z` }, `${day}14:00:10+02:00`, '10:59:50.000'],
    ['sent_at of the year 10000', { timestamp: `${day}11:00:00Z` }, '9999-12-31T23:59:59-10:00', '11:00:00.000'],
  ])('%s', (_name, event, sentAt, expected) => {
    expect(timeOf(event, sentAt)).toBe(expected.includes('T') ? `${expected}Z` : `${day}${expected}Z`);
  });

  test.each<[string, ClientEvent, string | null]>([
    ['time-007 an invalid time', { timestamp: 'yesterday' }, 'ignored_invalid_timestamp'],
    ['time-007 a number that is not a time', { timestamp: 5 }, 'ignored_invalid_timestamp'],
    ['a year that cannot be stored', { timestamp: '0000-06-01T00:00:00Z' }, 'ignored_invalid_timestamp'],
    ['time-009 too far ahead', { timestamp: '2026-11-22T11:00:00.001Z' }, 'event_timestamp_in_future'],
    ['time-009 just within the limit', { timestamp: '2026-11-22T11:00:00.000Z' }, null],
    ['time-006 no time', {}, null],
    ['an empty time', { timestamp: ' ' }, null],
  ])("returns the right warning about an event's time: %s", (_name, event, finding) => {
    expect(readEventTime(event, null, now).finding).toBe(finding);
  });

  test.each<[string, string, string]>([
    ['time-011 milliseconds', String(now + 10_000), '10:59:50.000'],
    ['time-012 seconds', String(Math.floor(now / 1000) + 10), '11:00:00.000'],
    ['a year up to 2020', year2020, '11:00:00.000'],
    ['not a number', 'abc', '11:00:00.000'],
    ['empty', '', '11:00:00.000'],
  ])('reads the send time from the query parameter `_`: %s', (_name, query, expected) => {
    expect(timeOf({ timestamp: `${day}11:00:00Z` }, undefined, query)).toBe(`${day}${expected}Z`);
  });

  test("prefers a batch's `sent_at` to the query parameter `_`", () => {
    expect(timeOf({ timestamp: `${day}11:00:00Z` }, `${day}12:00:10Z`, String(now + 60_000))).toBe(
      `${day}10:59:50.000Z`,
    );
  });
});
