import { parseTimestamp } from './parse.ts';

test.each([
  ['2026-11-21T02:30:00.000Z', Date.UTC(2026, 10, 21, 2, 30)],
  ['2026-11-21T02:30:00Z', Date.UTC(2026, 10, 21, 2, 30)],
  ['2026-11-21T02:30:00.123456Z', Date.UTC(2026, 10, 21, 2, 30, 0, 123)],
  ['2026-11-21T02:30:00+04:00', Date.UTC(2026, 10, 20, 22, 30)],
  ['0001-01-01T00:00:00.000Z', -62_135_596_800_000],
  ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
])('parses %s as a time', (text, ms) => {
  expect(parseTimestamp(text)).toBe(ms);
});

test.each([
  '',
  'yesterday',
  '1740000000',
  '2026-11-21',
  '2026-11-21 02:30:00',
  // Without a time zone, the time would depend on the time zone of this machine.
  '2026-11-21T02:30:00',
  'Sat, 21 Nov 2026 02:30:00 GMT',
  '2026-13-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00+01:00',
  '+020000-01-01T00:00:00Z',
  '2026-11-21T02:30:00Z\n',
])('rejects %j as a time', (text) => {
  expect(parseTimestamp(text)).toBeNull();
});
