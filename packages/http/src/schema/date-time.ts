// Parses and formats dates and times for the API.

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|z|[+\- ]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Parses a date or time from a client (docs/api/README.md#requests): ISO 8601 with or without an offset. Without an
 * offset, the time is in UTC. A date without a time means midnight in UTC. A space before an offset counts as `+`,
 * because an unescaped `+` in a query string becomes a space. Times are precise to the millisecond, in the years 1 to
 * 9999.
 * @returns null if the string is not a valid time, for example 30 February
 */
export function parseDateTime(text: string): Date | null {
  const match = pattern.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((group) => Number(match[group] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  const offset = offsetMinutes(match[8]);
  if (offset === null) return null;
  const shifted = new Date(date.getTime() - offset * 60_000);
  const shiftedYear = shifted.getUTCFullYear();
  return shiftedYear >= 1 && shiftedYear <= 9999 ? shifted : null;
}

function offsetMinutes(text: string | undefined): number | null {
  if (text === undefined || text === 'Z' || text === 'z') return 0;
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  if (hours > 23 || minutes > 59) return null;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Formats a time for the API: `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`, with the fraction only if it is not zero. */
export function formatDateTime(date: Date): string {
  const text = date.toISOString();
  return text.endsWith('.000Z') ? text.replace('.000Z', 'Z') : text.replace('Z', '000Z');
}
