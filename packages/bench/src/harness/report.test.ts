import { formatFigure, formatTable, formatTarget, median, percentile } from './report.ts';

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('computes the median of %j as %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('computes a percentile as the nearest rank, whatever the order of the values', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentile(values, 0.5)).toBe(100);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile(values, 1)).toBe(200);
  expect(percentile([5], 0.01)).toBe(5);
});

test('returns NaN as the median and percentile of an empty list', () => {
  expect(median([])).toBeNaN();
  expect(percentile([], 0.5)).toBeNaN();
});

test('aligns the first column to the left and all other columns to the right', () => {
  expect(
    formatTable([
      ['name', 'n'],
      ['a', '1,000'],
    ]),
  ).toBe('name      n\na     1,000');
});

test.each([
  [1234567.8, '1,234,568'],
  [12.34, '12.3'],
])('formats %d as %s', (value, text) => {
  expect(formatFigure(value)).toBe(text);
});

test.each([
  [0.3, { atMost: 0.3 }, 'MET '],
  [0.31, { atMost: 0.3 }, 'NOT MET'],
  [9999, { atLeast: 10_000 }, 'NOT MET'],
  [Number.NaN, { atMost: 1 }, 'NOT MET'],
])('formats the figure %d with the target %j as %s', (value, target, expected) => {
  expect(formatTarget('x', value, target).startsWith(expected)).toBe(true);
});
