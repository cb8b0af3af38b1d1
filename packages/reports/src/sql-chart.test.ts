import { readVisualization } from '@millrace/insights';
import { buildSingleNumberFigures, buildSqlChart } from './sql-chart.ts';

const resultWith = (types: [string, string][], results: unknown[][]) => ({ types, results, timezone: 'UTC' });
const perDay = resultWith(
  [
    ['plan', 'Nullable(String)'],
    ['day', "DateTime('UTC')"],
    ['orders', 'UInt64'],
    ['revenue', 'Nullable(Float64)'],
  ],
  [
    ['pro', '2026-11-07T00:00:00Z', 3, null],
    ['pro', '2026-11-05T00:00:00Z', 1, 9.5],
    [null, '2026-11-07T00:00:00Z', 2, 4],
  ],
);
const show = (display: string | undefined, chartSettings: object = {}) =>
  readVisualization({ kind: 'DataVisualizationNode', display, chartSettings });
const seriesOf = (chart: ReturnType<typeof buildSqlChart>) =>
  chart !== null && 'series' in chart ? chart.series.map(({ label, data }) => [label, data]) : null;

test.each([undefined, 'ActionsTable', 'BoldNumber', 'WorldMap'])('draws no chart for the display %s', (display) => {
  expect(buildSqlChart(perDay, show(display))).toBeNull();
});

test('by default, draws every numeric column over the first time column, sorted by time', () => {
  const rows = resultWith(
    perDay.types.slice(1),
    perDay.results.slice(0, 2).map((row) => row.slice(1)),
  );
  const chart = buildSqlChart(rows, show('ActionsLineGraph'));
  expect(chart).toMatchObject({ shape: 'lines', times: ['2026-11-05', '2026-11-07'] });
  expect(seriesOf(chart)).toEqual([
    ['orders', [1, 3]],
    ['revenue', [9.5, null]],
  ]);
});

test('draws one series for each value of the breakdown column', () => {
  const settings = { xAxis: { column: 'day' }, yAxis: [{ column: 'orders' }], seriesBreakdownColumn: 'plan' };
  const chart = buildSqlChart(perDay, show('ActionsStackedBar', settings));
  expect(chart).toMatchObject({ shape: 'bars' });
  expect(seriesOf(chart)).toEqual([
    ['pro', [1, 3]],
    ['(none)', [null, 2]],
  ]);
});

test('draws one bar for each string in the column of the x-axis', () => {
  const settings = { xAxis: { column: 'plan' }, yAxis: [{ column: 'revenue' }] };
  expect(buildSqlChart(perDay, show('ActionsBar', settings))).toMatchObject({
    shape: 'rows',
    rows: [
      { label: 'pro', value: 9.5 },
      { label: '(none)', value: 4 },
    ],
  });
});

test.each([
  ['without a column for the x-axis', resultWith([['n', 'UInt64']], [[1]])],
  ['without numbers', resultWith([['day', 'Date']], [['2026-11-07']])],
  [
    'without rows',
    resultWith(
      [
        ['day', 'Date'],
        ['n', 'UInt64'],
      ],
      [],
    ),
  ],
])('draws no chart for a result %s', (_, result) => {
  expect(buildSqlChart(result, show('ActionsLineGraph'))).toBeNull();
});

test('shows the first number of the first numeric column or of the chosen column as the single number', () => {
  expect(buildSingleNumberFigures(perDay, show('BoldNumber'))).toMatchObject([
    { label: 'orders', value: 3, before: null },
  ]);
  expect(buildSingleNumberFigures(perDay, show('BoldNumber', { yAxis: [{ column: 'revenue' }] }))).toEqual([]);
  expect(buildSingleNumberFigures(perDay, show('ActionsTable'))).toEqual([]);
});
