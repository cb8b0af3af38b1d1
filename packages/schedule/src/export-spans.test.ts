import { type ExportInterval, splitIntoExportSpans } from './export-interval.ts';

const spans = (interval: ExportInterval, start: string, end: string, timezone = 'UTC') =>
  [
    ...splitIntoExportSpans(
      { start: new Date(start), end: new Date(end) },
      { interval, timezone, offset_day: null, offset_hour: null },
    ),
  ].map(({ start, end }) => `${start.toISOString().slice(5, 16)} ${end.toISOString().slice(5, 16)}`);

test('splits a range into consecutive intervals, and trims the first and the last one to the range', () => {
  expect(spans('hour', '2026-11-10T10:30Z', '2026-11-10T12:15Z')).toEqual([
    '11-10T10:30 11-10T11:00',
    '11-10T11:00 11-10T12:00',
    '11-10T12:00 11-10T12:15',
  ]);
});

test('returns one span for a range within one interval, and no spans for an empty range', () => {
  expect(spans('day', '2026-11-10T10:30Z', '2026-11-10T12:15Z')).toEqual(['11-10T10:30 11-10T12:15']);
  expect(spans('day', '2026-11-10T10:30Z', '2026-11-10T10:30Z')).toEqual([]);
});

test('splits a range into days at midnight in the time zone', () => {
  expect(spans('day', '2026-10-31T04:00Z', '2026-11-02T05:00Z', 'America/New_York')).toEqual([
    '10-31T04:00 11-01T04:00',
    '11-01T04:00 11-02T05:00',
  ]);
});
