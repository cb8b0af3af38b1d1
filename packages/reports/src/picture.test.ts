import { otherColor, seriesColors } from '@millrace/contracts/chart';
import { buildChart } from './chart.ts';
import { buildFigures } from './figures.ts';
import { drawInsight } from './picture.ts';

const days = ['2026-11-23', '2026-11-24', '2026-11-25'];
const source = { kind: 'TrendsQuery', interval: 'day', trendsFilter: { aggregationAxisFormat: 'duration' } };
const series = (label: string, more: object = {}) => ({
  ...{ label, days, data: [60, 7200, 3600], count: 10_860, action: { math: 'sum' } },
  ...more,
});
const draw = (results: object[], query: Record<string, unknown> = source) =>
  drawInsight({
    ...{ name: 'Time spent', date_from: '2026-11-23T00:00:00Z', date_to: '2026-11-25T23:59:59Z' },
    figures: buildFigures(results, query),
    chart: buildChart(results, query, Date.parse('2026-11-25T12:00:00Z')),
  });

describe('drawInsight', () => {
  it('formats numbers in the unit of the insight', () => {
    const svg = draw([series('a')]);
    expect(svg).toContain('>3 h 1 min<');
    expect(svg).toContain('>30 min<');
  });

  it('draws only the interval in progress as a dashed line', () => {
    const lines = [...(draw([series('a')])?.matchAll(/<polyline points="([^"]*)"[^>]*>/g) ?? [])];
    expect(lines.map(([line, points = '']) => [points.split(' ').length, line.includes('dasharray')])).toEqual([
      [2, false],
      [2, true],
    ]);
  });

  it('leaves a gap in the line of a funnel trend where no one entered the funnel', () => {
    const funnel = { kind: 'FunnelsQuery', interval: 'day' };
    const dates = ['2026-11-21', '2026-11-22', ...days];
    const svg = draw([{ count: 5, days: dates, data: [50, 0, 0, 25, 20], entered: [4, 0, 2, 4, 5] }], funnel);
    const lines = [...(svg?.matchAll(/<polyline points="([^"]*)"/g) ?? [])];
    expect(lines.map(([, points = '']) => points.split(' ').length)).toEqual([2, 2]);
    expect(svg?.match(/<circle/g)).toHaveLength(1);
    expect(svg).toContain('>Conversion rate<');
  });

  it("draws an increase in the color for bad changes if the insight's isIncreaseBad is true", () => {
    const results = [
      series('errors', { compare_label: 'current' }),
      series('errors', { compare_label: 'previous', count: 5000 }),
    ];
    const colorOf = (filter: object) => {
      const [, color] =
        /fill="([^"]*)"[^>]*>\+117%</.exec(draw(results, { ...source, trendsFilter: filter }) ?? '') ?? [];
      return color;
    };
    expect([colorOf({}), colorOf({ isIncreaseBad: true })]).toEqual(['#1e7a4c', '#b3372f']);
  });

  it('uses the console\'s colors, with the neutral color for a breakdown\'s "other" values', () => {
    const svg = draw([series('a'), series('b', { breakdown_value: '$$_posthog_breakdown_other_$$' })]);
    expect(svg).toContain(`stroke="${seriesColors.light[0]}"`);
    expect(svg).toContain(`stroke="${otherColor.light}"`);
  });

  it("draws each status of a lifecycle in the status's color", () => {
    const statuses = ['dormant', 'returning'].map((status) => series(status, { status }));
    const svg = draw(statuses, { kind: 'LifecycleQuery', interval: 'day' });
    expect(svg).toContain(`fill="${seriesColors.light[3]}"`);
    expect(svg).not.toContain(`fill="${seriesColors.light[1]}"`);
  });

  it('omits retention intervals that have not begun, and marks the interval in progress', () => {
    const query = { kind: 'RetentionQuery', retentionFilter: { period: 'Day' } };
    const group = (date: string, counts: number[]) => ({
      date: `${date}T00:00:00Z`,
      values: counts.map((count, at) => ({ count, label: `Day ${at}` })),
    });
    const svg = draw(
      [group('2026-11-23', [4, 3, 1]), group('2026-11-24', [5, 2, 0]), group('2026-11-25', [6, 0, 0])],
      query,
    );
    expect([...(svg?.matchAll(/>(\d+%\*?)</g) ?? [])].map(([, share]) => share)).toEqual(['75%', '25%*', '40%*']);
    expect(svg).toContain('* interval in progress');
  });
});
