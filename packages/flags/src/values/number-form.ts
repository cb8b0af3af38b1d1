import { textForm } from './text-form.ts';

/** Each character is looked at once: where two parts could take the same digits, a million of them would take hours. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^[+-]?inf(?:inity)?$/i;

/** What numeric operators compare; null for what is no number. Blanks, hexadecimal and booleans are none. */
export function numberForm(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = textForm(value);
  if (decimal.test(text)) return Number(text);
  if (infinite.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return null;
}
