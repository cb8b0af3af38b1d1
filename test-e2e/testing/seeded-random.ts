// Chance that can be repeated: numbers from a seed, and where the seed of a run comes from.
import { environment } from '@millrace/runtime';

/** Numbers in [0, 1) that a seed decides (mulberry32): what failed can be had again, and both sides of a comparison get the same work. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const isAtLength = () => environment().MILLRACE_TESTS_AT_LENGTH === 'true';

/**
 * How long a random story is: short in `npm test`; `npm run test:long` runs it again, with another seed and at length. A test that uses
 * it has the number in its name, and its file is named `*.sampled.test.ts`.
 */
export const storySize = (short: number, atLength: number): number => (isAtLength() ? atLength : short);

/**
 * Some of many cases: in `npm test` `count` of them, in `npm run test:long` all. The file is named `*.sampled.test.ts`.
 * They are spread over the list, where similar cases stand together.
 *
 * @param turn callers with successive turns get other cases, so that together they cover all of them
 */
export function sampleOf<T>(cases: readonly T[], { count, turn }: { count: number; turn: number }): T[] {
  if (isAtLength() || count >= cases.length) return [...cases];
  const distance = Math.ceil(cases.length / count);
  return Array.from({ length: count }, (_, at) => cases[(turn + at * distance) % cases.length] as T);
}

/**
 * The seed of what a test makes up: `MILLRACE_SEED`, else `otherwise`, another one each time by default. Whoever uses it
 * prints it (in the test's name, for example), so that a failure can be had again.
 *
 * @throws Error when `MILLRACE_SEED` is no whole number.
 */
export function testSeed(otherwise: number = Math.floor(Math.random() * 1e9)): number {
  const given = environment().MILLRACE_SEED;
  if (!given) return otherwise;
  if (!/^-?\d{1,10}$/.test(given))
    throw new Error(`MILLRACE_SEED must be a whole number, not ${JSON.stringify(given)}.`);
  return Number(given);
}
