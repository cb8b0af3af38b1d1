import { isDeepEqual } from './values.ts';

const circle: unknown[] = [];
circle.push(circle);
const otherCircle: unknown[] = [];
otherCircle.push(otherCircle);
const one = () => {};
const other = () => {};

it.each<[boolean, unknown, unknown]>([
  [true, { a: 1, b: { c: [2] } }, { b: { c: [2] }, a: 1 }],
  [false, { a: 1, b: 2 }, { a: 1, b: 3 }],
  [false, { a: 1, b: 2 }, { a: 1 }],
  [false, { a: undefined }, { b: undefined }],
  [true, 'a', 'a'],
  [false, 1, '1'],
  [true, 0, -0],
  [false, Number.NaN, Number.NaN],
  [false, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  [true, null, null],
  [false, undefined, null],
  [false, null, {}],
  [true, [], []],
  [false, [], {}],
  [true, [[[[]]]], [[[[]]]]],
  [false, [[[[]]]], [[[[[]]]]]],
  [false, [1, 2], [1, 2, 3]],
  [true, { a: circle }, { a: otherCircle }],
  [true, circle, [circle]],
  [true, one, one],
  [false, one, other],
  [false, /a/, /a/],
  [false, new Date(1), new Date(2)],
])('returns %s when %p is compared with %p', (expected, left, right) => {
  expect(isDeepEqual(left, right)).toBe(expected);
  expect(isDeepEqual(right, left)).toBe(expected);
});
