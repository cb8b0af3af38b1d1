import { type ExportSchedule, nextExportInterval } from './export-interval.ts';

const schedule: ExportSchedule = {
  ...{ interval: 'hour', timezone: 'UTC', offset_day: null, offset_hour: null },
  ...{ start_at: null, end_at: null },
};
const at = (text: string) => new Date(text);

test('returns the interval in progress as the next one to export', () => {
  expect(nextExportInterval(schedule, at('2026-11-21T05:30Z'))).toEqual({
    start: at('2026-11-21T05:00Z'),
    end: at('2026-11-21T06:00Z'),
  });
});

test('does not trigger runs before start_at or after end_at', () => {
  const from = at('2026-11-21T05:30Z');
  const later = { ...schedule, start_at: at('2026-11-22T08:10Z') };
  expect(nextExportInterval(later, from)?.end).toEqual(at('2026-11-22T09:00Z'));
  expect(nextExportInterval({ ...schedule, end_at: at('2026-11-21T06:00Z') }, from)?.end).toEqual(
    at('2026-11-21T06:00Z'),
  );
  expect(nextExportInterval({ ...schedule, end_at: at('2026-11-21T05:59Z') }, from)).toBeNull();
});

test('starts the next interval where the last export at a different frequency ended', () => {
  const daily: ExportSchedule = { ...schedule, interval: 'day' };
  const exportedUntil = at('2026-11-21T05:00Z');
  expect(nextExportInterval(daily, exportedUntil, exportedUntil)).toEqual({
    start: exportedUntil,
    end: at('2026-11-22T00:00Z'),
  });
});
