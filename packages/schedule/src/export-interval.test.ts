import { type ExportInterval, type ExportRhythm, exportIntervals, findExportInterval } from './export-interval.ts';

const at = (
  interval: ExportInterval,
  moment: string,
  { timezone = 'UTC', offset_day = null, offset_hour = null }: Partial<ExportRhythm> = {},
) => {
  const { start, end } = findExportInterval({ interval, timezone, offset_day, offset_hour }, new Date(moment));
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
])('computes the %s interval at %s in %s', (interval, moment, zone, start, end) => {
  expect(at(interval, moment, { timezone: zone })).toEqual([start, end]);
});

test.each<[ExportInterval, string, Partial<ExportRhythm>, string, string]>([
  ['day', '2026-11-21T05:59Z', { offset_hour: 6 }, '2026-11-20T06:00Z', '2026-11-21T06:00Z'],
  ['day', '2026-11-21T06:00Z', { offset_hour: 6 }, '2026-11-21T06:00Z', '2026-11-22T06:00Z'],
  // 02:00 does not exist on the day on which daylight saving time starts.
  [
    'day',
    '2026-03-08T06:59Z',
    { offset_hour: 2, timezone: 'America/New_York' },
    '2026-03-07T07:00Z',
    '2026-03-08T07:00Z',
  ],
  ['week', '2026-11-21T03:00Z', { offset_day: 0 }, '2026-11-15T00:00Z', '2026-11-22T00:00Z'],
  ['week', '2026-11-22T05:00Z', { offset_day: 0, offset_hour: 6 }, '2026-11-15T06:00Z', '2026-11-22T06:00Z'],
  ['week', '2026-11-21T03:00Z', { offset_day: 6 }, '2026-11-21T00:00Z', '2026-11-28T00:00Z'],
  ['hour', '2026-11-21T03:10Z', { offset_day: 6, offset_hour: 5 }, '2026-11-21T03:00Z', '2026-11-21T04:00Z'],
])('computes the %s interval at %s with the offsets %j', (interval, moment, rhythm, start, end) => {
  expect(at(interval, moment, rhythm)).toEqual([start, end]);
});

const rhythms = exportIntervals.flatMap((interval) =>
  [null, 2].map((offset_hour) => ({ interval, timezone: 'America/New_York', offset_day: null, offset_hour })),
);
test.each(rhythms)(
  'with %j, consecutive intervals have no gap or overlap in a year with daylight saving time',
  (rhythm) => {
    let moment = new Date('2026-03-01T00:00Z');
    for (let step = 0; step < 400; step += 1) {
      const { start, end } = findExportInterval(rhythm, moment);
      expect(start.getTime()).toBeLessThanOrEqual(moment.getTime());
      expect(end.getTime()).toBeGreaterThan(moment.getTime());
      expect(findExportInterval(rhythm, end).start).toEqual(end);
      expect(findExportInterval(rhythm, new Date(end.getTime() - 1))).toEqual({ start, end });
      moment = end;
    }
  },
);
