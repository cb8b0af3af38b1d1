import { textForm } from '../values/text-form.ts';
import type { ValueTest } from './value-test.ts';

export function containsTest(expected: unknown): ValueTest {
  const part = asciiLower(textForm(expected));
  return (value) => asciiLower(textForm(value)).includes(part);
}

/** One of several; a single value counts as a list of one. */
export function containsAnyTest(expected: unknown): ValueTest {
  const parts = (Array.isArray(expected) ? expected : [expected]).map((part) => asciiLower(textForm(part)));
  return (value) => {
    const text = asciiLower(textForm(value));
    return parts.some((part) => text.includes(part));
  };
}

export function startsWithTest(expected: unknown): ValueTest {
  const start = asciiLower(textForm(expected));
  return (value) => asciiLower(textForm(value)).startsWith(start);
}

export function endsWithTest(expected: unknown): ValueTest {
  const end = asciiLower(textForm(expected));
  return (value) => asciiLower(textForm(value)).endsWith(end);
}

/** Only A to Z, as the reference: "Ä" and "ä" are two texts here, while `exact` takes them for one. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
