import {
  computeTicks,
  endOfInterval,
  formatAxisLabels,
  formatInterval,
  type Interval,
  otherColor,
  parseSeriesTime,
  retentionColumnRange,
  seriesColors,
} from './chart.ts';
import type { NumberFormat } from './numbers.ts';

describe('computeTicks', () => {
  const hour = 3600;
  it.each<[number[], NumberFormat['kind'], number[]]>([
    [[0, 1], 'number', [0, 1]],
    [[0], 'number', [0, 1]],
    [[3, 2], 'number', [0, 1, 2, 3]],
    [[0.5, 2], 'number', [0, 0.5, 1, 1.5, 2]],
    [[-3, 7], 'number', [-5, 0, 5, 10]],
    [[1000, 4321], 'number', [0, 2000, 4000, 6000]],
    [[43.45], 'percent', [0, 20, 40, 60]],
    [[2 * hour], 'seconds', [0, 0.5 * hour, hour, 1.5 * hour, 2 * hour]],
    [[40 * hour], 'seconds', [0, 12 * hour, 24 * hour, 36 * hour, 48 * hour]],
    [[40_000], 'milliseconds', [0, 10_000, 20_000, 30_000, 40_000]],
  ])('returns round ticks for %j (%s)', (values, kind, ticks) => {
    expect(computeTicks(values, { kind })).toEqual(ticks);
  });
});

it.each<[string, Interval, string]>([
  ['2026-11-23', 'day', 'Mon, 23 Nov 2026'],
  ['2026-11-23 16:00:00', 'hour', 'Mon, 23 Nov 2026, 16:00'],
  ['2026-11-30', 'week', '30 Nov – 6 Dec 2026'],
  ['2026-11-01', 'month', 'Nov 2026'],
  ['not a day', 'day', 'not a day'],
  ['Day 1', 'day', 'Day 1'],
])('formats the interval that starts at %s with length %s', (day, interval, text) => {
  expect(formatInterval(day, interval)).toBe(text);
});

it('labels months without days, and hours with the time', () => {
  expect(formatAxisLabels(['2026-10-01', '2026-11-01'])).toEqual(['Oct 2026', 'Nov 2026']);
  expect(formatAxisLabels(['2026-11-01'])).toEqual(['1 Nov']);
  expect(formatAxisLabels(['2026-11-23 16:00:00'])).toEqual(['23 Nov 16:00']);
});

it('computes the end of a chart interval', () => {
  const ends = (['hour', 'day', 'week', 'month'] as const).map((interval) =>
    endOfInterval(parseSeriesTime('2026-01-31'), interval),
  );
  expect(ends.slice(0, 3).map((end) => new Date(end).toISOString())).toEqual([
    '2026-01-31T01:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
    '2026-02-07T00:00:00.000Z',
  ]);
  expect(new Date(endOfInterval(parseSeriesTime('2026-11-01'), 'month')).toISOString()).toBe(
    '2026-12-01T00:00:00.000Z',
  );
});

const channels = (hex: string) =>
  [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)) as [number, number, number];

const luminance = (hex: string) => {
  const [red, green, blue] = channels(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** Converts a color to OKLab, a color space in which equal distances look equally different. */
function oklab(hex: string): [number, number, number] {
  const [red, green, blue] = channels(hex);
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

it.each([
  ['light', '#ffffff'],
  ['dark', '#13191c'],
] as const)(
  'the %s theme has ten series colors that differ from each other and contrast with the panel',
  (theme, panel) => {
    const colors = [...seriesColors[theme], otherColor[theme]];
    const ground = luminance(panel);
    for (const color of colors) {
      const [less = 0, more = 0] = [luminance(color), ground].sort((a, b) => a - b);
      expect([color, (more + 0.05) / (less + 0.05) >= 3]).toEqual([color, true]);
    }
    for (const [at, one] of colors.entries())
      for (const other of colors.slice(at + 1)) {
        const [a, b] = [oklab(one), oklab(other)];
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        expect([one, other, distance > 0.1]).toEqual([one, other, true]);
      }
  },
);

describe('retentionColumnRange', () => {
  const begin = Date.parse('2026-11-01T00:00:00Z');
  const daysOf = (column: number, filter: object) => {
    const { from, to } = retentionColumnRange(begin, column, { ...filter });
    return [from, to].map((time) => (time - begin) / 86_400_000);
  };

  it.each([
    [0, { period: 'Day' }, [0, 1]],
    [3, { period: 'Week' }, [21, 28]],
    [1, { period: 'Month' }, [30, 61]],
    [0, { period: 'Day', retentionCustomBrackets: [1, 3, 7] }, [0, 1]],
    [1, { period: 'Day', retentionCustomBrackets: [1, 3, 7] }, [1, 2]],
    [2, { period: 'Day', retentionCustomBrackets: [1, 3, 7] }, [2, 5]],
    [3, { period: 'Day', retentionCustomBrackets: [1, 3, 7] }, [5, 12]],
  ])('column %i of a retention table with %j covers the days %j', (column, filter, days) => {
    expect(daysOf(column, filter)).toEqual(days);
  });
});
