import { textForm } from '../values/text-form.ts';
import { usualSteps, type ValueTest } from './value-test.ts';

export function containsTest(expected: unknown): ValueTest {
  const part = asciiLower(textForm(expected));
  return (value) => asciiLower(textForm(value)).includes(part);
}

/** One of several; a single value counts as a list of one. */
export function containsAnyTest(expected: unknown): ValueTest {
  const parts = (Array.isArray(expected) ? expected : [expected]).map((part) => asciiLower(textForm(part)));
  const containsAny = (value: unknown) => {
    const text = asciiLower(textForm(value));
    return parts.some((part) => text.includes(part));
  };
  return Object.assign(containsAny, {
    stepsFor: (length: number) => (1 + parts.length) * usualSteps(length),
  });
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
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  // Unit by unit: a text made to hurt has half a million capitals, too many for a replacement each.
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    units[index] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}
