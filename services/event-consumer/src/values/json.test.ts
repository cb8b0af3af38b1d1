import fc from 'fast-check';
import { jsonEqual } from './json.ts';

test.each([
  [1, 1, true],
  [1, '1', false],
  [0, null, false],
  [null, {}, false],
  [[], {}, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [{ a: 1, b: { c: [2] } }, { b: { c: [2] }, a: 1 }, true],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ toString: 1 }, {}, false],
  [JSON.parse('{"__proto__":1}'), JSON.parse('{"a":1}'), false],
])('jsonEqual compares %j with %j: %s', (a, b, expected) => {
  expect(jsonEqual(a, b)).toBe(expected);
  expect(jsonEqual(b, a)).toBe(expected);
});

test('jsonEqual treats a JSON value and its copy as equal', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => jsonEqual(value, JSON.parse(JSON.stringify(value)))));
});
