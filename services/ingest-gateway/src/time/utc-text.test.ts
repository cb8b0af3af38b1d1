import fc from 'fast-check';
import { parseTimestamp, parseZonedTimestamp } from './parse-timestamp.ts';
import { toUtcText } from './utc-text.ts';

const anyTime = fc.oneof(
  fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) }),
  fc.integer({ min: 1_790_000_000_000, max: 1_790_200_000_000 }),
);

test('a time is written as the language does, and read again', () => {
  fc.assert(
    fc.property(anyTime, (ms) => {
      const text = toUtcText(ms);
      expect(text).toBe(new Date(ms).toISOString());
      expect([parseTimestamp(text), parseZonedTimestamp(text)]).toEqual([ms, ms]);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['24 o’clock', '2026-11-21T24:00:00.000Z'],
  ['minute 60', '2026-11-21T12:60:00.000Z'],
  ['second 61', '2026-11-21T12:00:61.000Z'],
  ['30 February', '2026-02-30T12:00:00.000Z'],
  ['month 13', '2026-13-01T12:00:00.000Z'],
  ['a letter in the hour', '2026-11-21T1a:00:00.000Z'],
  ['a sign in the milliseconds', '2026-11-21T12:00:00.-10Z'],
])('%s is no time, also right after one of that day', (_name, text) => {
  parseTimestamp('2026-11-21T12:00:00.000Z');
  expect(parseTimestamp(text)).toBeNull();
});

test('a leap second is the end of its minute, and a lower-case text is read', () => {
  expect(parseTimestamp('2026-11-21T12:00:60.000Z')).toBe(Date.UTC(2026, 10, 21, 12, 0, 59, 999));
  expect(parseTimestamp('2026-11-21t12:00:00.000z')).toBe(Date.UTC(2026, 10, 21, 12));
});
