import fc from 'fast-check';
import { formatUtc, parseTimestamp, parseZonedTimestamp } from './event-time.ts';

const read = (text: string) => {
  const ms = parseTimestamp(text);
  return ms === null ? null : new Date(ms).toISOString();
};

describe('valid timestamps', () => {
  test.each([
    ['2026-11-21T12:30:45Z', '2026-11-21T12:30:45.000Z'],
    ['2026-11-21T12:30:45.123456789Z', '2026-11-21T12:30:45.123Z'],
    ['2026-11-21T12:30:45.1z', '2026-11-21T12:30:45.100Z'],
    ['2026-11-21T12:30:45+02:00', '2026-11-21T10:30:45.000Z'],
    ['2026-11-21T12:30:45-0530', '2026-11-21T18:00:45.000Z'],
    ['1 Jan 2023 12:00:00 +0200', '2023-01-01T10:00:00.000Z'],
    ['1672574400', '2023-01-01T12:00:00.000Z'],
    ['1672574400.5', '2023-01-01T12:00:00.500Z'],
    ['1672574400000000', '2023-01-01T12:00:00.000Z'],
    ['1672574400000000000', '2023-01-01T12:00:00.000Z'],
    ['2023-01-01 12:00', '2023-01-01T12:00:00.000Z'],
    ['2023-01-01 12:00:00 +0000', '2023-01-01T12:00:00.000Z'],
    ['2023-01-01 12:00:00 UTC', '2023-01-01T12:00:00.000Z'],
    ['2023/01/31', '2023-01-31T00:00:00.000Z'],
    ['2023/01/31 12:00:00', '2023-01-31T12:00:00.000Z'],
    ['01/31/2023', '2023-01-31T00:00:00.000Z'],
    ['1/31/2023 1:05:00 PM', '2023-01-31T13:05:00.000Z'],
    ['1/31/2023 12:05:00 AM', '2023-01-31T00:05:00.000Z'],
    ['  2023-01-01  ', '2023-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999Z'],
    ['20261122T100000Z', '2026-11-22T10:00:00.000Z'],
    ['20261122T100000.25+0130', '2026-11-22T08:30:00.250Z'],
    ['20261122T1000', '2026-11-22T10:00:00.000Z'],
    ['20261122 100000-05', '2026-11-22T15:00:00.000Z'],
    ['20261122', '2026-11-22T00:00:00.000Z'],
    ['2021W435', '2021-10-29T00:00:00.000Z'],
    ['2021-W43', '2021-10-25T00:00:00.000Z'],
    ['2021-W43-5T12:30:00Z', '2021-10-29T12:30:00.000Z'],
    ['2021-W43-5T12:30:00.000Z', '2021-10-29T12:30:00.000Z'],
    ['2020-W53-7', '2021-01-03T00:00:00.000Z'],
    ['2019-W01-1', '2018-12-31T00:00:00.000Z'],
    ['2024-366T23:59', '2024-12-31T23:59:00.000Z'],
    ['Sun Nov 22 2026 10:00:00 GMT+0100 (CET)', '2026-11-22T09:00:00.000Z'],
    ['Sun Nov 22 2026 10:00:00 GMT+0100 (Mitteleuropäische Normalzeit)', '2026-11-22T09:00:00.000Z'],
    ['Sun Nov 22 2026 10:00:00 GMT-0330', '2026-11-22T13:30:00.000Z'],
    ['Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)', '1970-01-01T00:00:00.000Z'],
    ['Sun Nov 22 2026', '2026-11-22T00:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

test.each([
  ['time-013', '2025-09-17T14:05:04.805+03', '2025-09-17T11:05:04.805Z'],
  ['time-013', '2025-09-17T14:05:04.805-05', '2025-09-17T19:05:04.805Z'],
  ['time-014', '2023-01-01', '2023-01-01T00:00:00.000Z'],
  ['time-014', '2023-01-01 12:00:00', '2023-01-01T12:00:00.000Z'],
  ['time-014', '2023-01-01T12:00:00', '2023-01-01T12:00:00.000Z'],
  ['time-014', 'Sun, 01 Jan 2023 12:00:00 GMT', '2023-01-01T12:00:00.000Z'],
  ['time-014', '1672574400000', '2023-01-01T12:00:00.000Z'],
])('%s: parses the time %s', (_no, text, expected) => {
  expect(read(text)).toBe(expected);
});

test.each([
  '2021-10-29',
  '2021-10-29 00:00:00',
  '2021-10-29 00:00:00.000000',
  '2021-10-29T00:00:00.000Z',
  '2021-10-29 00:00:00+00:00',
  '2021-10-29T00:00:00.000-00:00',
  '2021-10-29T00:00:00.000',
  '2021-10-29T00:00:00.000+00:00',
  '2021-W43-5',
  '2021-302',
])('ingest-129: parses an ISO 8601 date: %s', (text) => {
  expect(read(text)).toBe('2021-10-29T00:00:00.000Z');
});

test('parses dates in every common printed format', () => {
  const printed = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(printed, (date) => {
      const second = Math.floor(date.getTime() / 1000) * 1000;
      expect(parseTimestamp(date.toString())).toBe(second);
      expect(parseTimestamp(date.toUTCString())).toBe(second);
      expect(parseTimestamp(date.toISOString().replace(/[-:]/g, ''))).toBe(date.getTime());
    }),
  );
});

describe('time-007 invalid timestamps', () => {
  test.each([
    '',
    'yesterday',
    '2023-13-01',
    '2023-02-30',
    '2023-02-29',
    '1900-02-29',
    '2023-01-01T25:00:00Z',
    '2023-01-01T12:61:00Z',
    '2023-01-01T12:00:00+99:00',
    '31/31/2023',
    '2023',
    '5',
    '13:00 PM',
    '1/31/2023 13:05:00 PM',
    `2023-01-01${' '.repeat(100)}12:00`,
    '2023-01-01T12:00:00Z; drop table',
    '20231301',
    '20230101T250000Z',
    '2023-000',
    '2023-366',
    '2023-W00',
    '2023-W53',
    '2023-W10-8',
    'Sun Nov 31 2026 10:00:00 GMT+0100 (CET)',
    'Sun Nov 22 2026 10:00:00 GMT+0100 (CET) (CET)',
    `Sun Nov 22 2026 10:00:00 GMT+0100 (${'x'.repeat(100)})`,
  ])('%j', (text) => {
    expect(read(text)).toBeNull();
  });
});

const anyTime = fc.oneof(
  fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) }),
  fc.integer({ min: 1_790_000_000_000, max: 1_790_200_000_000 }),
);

test('formats times as JavaScript does, and parses them back', () => {
  fc.assert(
    fc.property(anyTime, (ms) => {
      const text = formatUtc(ms);
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
])('rejects the invalid time %s, even directly after a valid time of the same day', (_name, text) => {
  parseTimestamp('2026-11-21T12:00:00.000Z');
  expect(parseTimestamp(text)).toBeNull();
});

test('parses a leap second as the end of its minute, and accepts lower-case `t` and `z`', () => {
  expect(parseTimestamp('2026-11-21T12:00:60.000Z')).toBe(Date.UTC(2026, 10, 21, 12, 0, 59, 999));
  expect(parseTimestamp('2026-11-21t12:00:00.000z')).toBe(Date.UTC(2026, 10, 21, 12));
});
