import { environment } from '@millrace/runtime';

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
