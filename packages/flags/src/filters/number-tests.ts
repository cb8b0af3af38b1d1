import { numberForm } from '../values/number-form.ts';
import type { ValueTest } from './value-test.ts';

type Comparison = (value: number, expected: number) => boolean;

/** Null for a value that is no number: then nothing matches. */
export function compareNumbers(expected: unknown, holds: Comparison): ValueTest | null {
  const bound = numberForm(expected);
  if (bound === null) return null;
  return (value) => {
    const number = numberForm(value);
    return number !== null && holds(number, bound);
  };
}

/** Both ends included. Null for anything but two numbers in order. */
export function betweenTests(expected: unknown): { isBetween: ValueTest; isNotBetween: ValueTest } | null {
  if (!Array.isArray(expected) || expected.length !== 2) return null;
  const [low, high] = expected.map(numberForm);
  if (low === null || low === undefined || high === null || high === undefined || low > high) return null;
  return {
    isBetween: (value) => isWithin(numberForm(value), low, high) === true,
    isNotBetween: (value) => isWithin(numberForm(value), low, high) === false,
  };
}

/** Null where there is no number: neither between nor not between. */
function isWithin(number: number | null, low: number, high: number): boolean | null {
  return number === null ? null : low <= number && number <= high;
}
