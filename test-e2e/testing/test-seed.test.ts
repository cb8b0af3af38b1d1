import { readEnvironment } from '@millrace/runtime';
import { testSeed } from './seeded-random.ts';

const before = readEnvironment().MILLRACE_SEED;
afterEach(() => setSeed(before));

function setSeed(seed: string | undefined): void {
  if (seed === undefined) delete readEnvironment().MILLRACE_SEED;
  else readEnvironment().MILLRACE_SEED = seed;
}

test.each([
  ['12', 12],
  ['-1404220512', -1404220512],
])('MILLRACE_SEED=%s sets the seed', (given, seed) => {
  setSeed(given);
  expect(testSeed()).toBe(seed);
  expect(testSeed(1)).toBe(seed);
});

test('without MILLRACE_SEED, the seed is the given value or random', () => {
  setSeed(undefined);
  expect(testSeed(1)).toBe(1);
  expect(testSeed()).not.toBe(testSeed());
});

test.each(['x', '1.5', '12345678901'])('rejects MILLRACE_SEED=%s', (given) => {
  setSeed(given);
  expect(testSeed).toThrow('MILLRACE_SEED must be a whole number');
});
