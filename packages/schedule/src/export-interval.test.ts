import { type ExportInterval, exportIntervalAt, exportIntervals } from './export-interval.ts';

const at = (interval: ExportInterval, moment: string, zone = 'UTC') => {
  const { start, end } = exportIntervalAt(interval, new Date(moment), zone);
  return [start.toISOString(), end.toISOString()].map((text) => text.replace(':00.000Z', 'Z'));
};

test.each<[ExportInterval, string, string, string, string]>([
  ['hour', '2026-11-21T05:59Z', 'Asia/Kolkata', '2026-11-21T05:00Z', '2026-11-21T06:00Z'],
  ['every 5 minutes', '2026-11-21T05:59Z', 'UTC', '2026-11-21T05:55Z', '2026-11-21T06:00Z'],
  ['every 15 minutes', '2026-11-21T06:00Z', 'UTC', '2026-11-21T06:00Z', '2026-11-21T06:15Z'],
  ['day', '2026-11-21T03:00Z', 'UTC', '2026-11-21T00:00Z', '2026-11-22T00:00Z'],
  ['day', '2026-11-21T03:00Z', 'America/New_York', '2026-11-20T05:00Z', '2026-11-21T05:00Z'],
  ['day', '2026-03-08T12:00Z', 'America/New_York', '2026-03-08T05:00Z', '2026-03-09T04:00Z'],
  ['day', '2026-11-01T12:00Z', 'America/New_York', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
  ['week', '2026-11-21T03:00Z', 'UTC', '2026-11-16T00:00Z', '2026-11-23T00:00Z'],
  ['week', '1969-12-31T03:00Z', 'UTC', '1969-12-29T00:00Z', '1970-01-05T00:00Z'],
])('%s at %s in %s', (interval, moment, zone, start, end) => {
  expect(at(interval, moment, zone)).toEqual([start, end]);
});

test.each(exportIntervals)(
  '%s: one follows the other without gap or overlap through a year of changing clocks',
  (interval) => {
    let moment = new Date('2026-03-01T00:00Z');
    for (let step = 0; step < 400; step += 1) {
      const { start, end } = exportIntervalAt(interval, moment, 'America/New_York');
      expect(start.getTime()).toBeLessThanOrEqual(moment.getTime());
      expect(end.getTime()).toBeGreaterThan(moment.getTime());
      expect(exportIntervalAt(interval, end, 'America/New_York').start).toEqual(end);
      expect(exportIntervalAt(interval, new Date(end.getTime() - 1), 'America/New_York')).toEqual({ start, end });
      moment = end;
    }
  },
);
