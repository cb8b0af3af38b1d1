import { textForm } from '../values/text-form.ts';
import { isBooleanLike, isTruthy } from '../values/truthy.ts';
import type { ValueTest } from './value-test.ts';

/**
 * Equality, blind to case, by text form, so that 5 equals "5"; with a list, equality to one of its members. Under matching
 * version 1 a value that reads as a boolean asks only whether the property is true: "false" matches everything that is not.
 */
export function exactTest(expected: unknown, matchingVersion: 1 | 2): ValueTest {
  if (Array.isArray(expected) && expected.length === 0) return isTruthy;
  if (matchingVersion === 1 && isBooleanLike(expected)) {
    const wanted = isTruthy(expected);
    return (value) => isTruthy(value) === wanted;
  }
  if (!Array.isArray(expected)) return equals(foldedText(expected));
  const texts = new Set(expected.map(foldedText));
  const [only = ''] = texts;
  return texts.size === 1 ? equals(only) : (value) => texts.has(foldedText(value));
}

function equals(text: string): ValueTest {
  return (value) => foldedText(value) === text;
}

function foldedText(value: unknown): string {
  return textForm(value).toLowerCase();
}
