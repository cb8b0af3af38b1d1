import { isDeeperThan } from './is-deeper-than.ts';

const lists = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);
const objects = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test.each([
  ['a string', 'text', 0, false],
  ['null', null, 0, false],
  ['an empty object', {}, 0, true],
  ['an empty object', {}, 1, false],
  ['lists', lists(3), 3, false],
  ['lists', lists(4), 3, true],
  ['objects', objects(3), 3, false],
  ['objects', objects(4), 3, true],
  ['the deepest of several', [1, null, {}, { a: 1, b: [[]] }], 3, true],
  ['an own key called __proto__', JSON.parse('{"__proto__":{"a":{}}}'), 2, true],
])('%s: returns whether %j has more than %d levels: %s', (_, value, levels, expected) => {
  expect(isDeeperThan(value, levels)).toBe(expected);
});

test('checks a value that is nested 100,000 levels deep without overflowing the stack', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(isDeeperThan(deep, 64)).toBe(true);
});
