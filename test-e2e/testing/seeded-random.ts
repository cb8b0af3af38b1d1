import { readEnvironment } from '@millrace/runtime';

/**
 * Returns a generator of numbers in [0, 1) that depend only on the seed (mulberry32). This makes failures reproducible,
 * and gives both sides of a comparison the same input.
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const isAtLength = () => readEnvironment().MILLRACE_TESTS_AT_LENGTH === 'true';

/**
 * Returns the size of a random test story: `short` in `npm test`, or `atLength` in `npm run test:long`, which uses
 * another seed. The test title must contain the size, and the file name must be `*.sampled.test.ts`.
 */
export const storySize = (short: number, atLength: number): number => (isAtLength() ? atLength : short);

/**
 * Returns `count` of many cases in `npm test`, and all of them in `npm run test:long`. The file name must be
 * `*.sampled.test.ts`. The sample is spread over the list, because adjacent cases are similar.
 * @param turn a number; callers with successive numbers get different cases, which together cover the entire list
 */
export function sampleOf<T>(cases: readonly T[], { count, turn }: { count: number; turn: number }): T[] {
  if (isAtLength() || count >= cases.length) return [...cases];
  const distance = Math.ceil(cases.length / count);
  return Array.from({ length: count }, (_, at) => cases[(turn + at * distance) % cases.length] as T);
}

/**
 * Returns `MILLRACE_SEED` if it is set, and otherwise the argument, which is random by default. The caller must print
 * the seed, for example in the test title, so that failures are reproducible.
 * @throws Error if `MILLRACE_SEED` is not an integer
 */
export function testSeed(otherwise: number = Math.floor(Math.random() * 1e9)): number {
  const given = readEnvironment().MILLRACE_SEED;
  if (!given) return otherwise;
  if (!/^-?\d{1,10}$/.test(given))
    throw new Error(`MILLRACE_SEED must be a whole number, not ${JSON.stringify(given)}.`);
  return Number(given);
}
