import { readable, textTable, verdict } from './text-table.ts';

test('aligns the first column left and figures right', () => {
  expect(
    textTable([
      ['name', 'n'],
      ['a', '1,000'],
    ]),
  ).toBe('name      n\na     1,000');
});

test.each([
  [1234567.8, '1,234,568'],
  [12.34, '12.3'],
])('%d reads %s', (value, text) => {
  expect(readable(value)).toBe(text);
});

test.each([
  [0.3, { atMost: 0.3 }, 'MET '],
  [0.31, { atMost: 0.3 }, 'NOT MET'],
  [9999, { atLeast: 10_000 }, 'NOT MET'],
  [Number.NaN, { atMost: 1 }, 'NOT MET'],
])('%d against %j is %s', (value, target, expected) => {
  expect(verdict('x', value, target).startsWith(expected)).toBe(true);
});
