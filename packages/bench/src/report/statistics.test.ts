import { median, percentile } from './statistics.ts';

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('percentile is the nearest rank, whatever the order', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentile(values, 0.5)).toBe(100);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile(values, 1)).toBe(200);
  expect(percentile([5], 0.01)).toBe(5);
});

test('nothing has no median and no percentile', () => {
  expect(median([])).toBeNaN();
  expect(percentile([], 0.5)).toBeNaN();
});
