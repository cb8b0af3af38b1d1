// Parses times in query parameters: in ISO 8601 format, or relative to now (for example `-7d`).

import { parseDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';

const milliseconds: Record<string, number> = { s: 1000, M: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const months: Record<string, number> = { m: 1, q: 3, y: 12 };

/**
 * Parses a filter's time, either in ISO 8601 or relative to `now`: `-30s`, `-5M` (minutes), `-24h`, `-7d`, `-2w`, `-1m`
 * (months), `-1q`, `-1y`. Months and longer units keep the day and the time of day. If the resulting month is too
 * short, the time is on its last day.
 * @returns null for an invalid string, or if the time is out of range
 */
function parseRelativeTime(text: string, now: Date): Date | null {
  const match = /^-(\d{1,5})([sMhdwmqy])$/.exec(text);
  if (!match) return parseDateTime(text.trim());
  const [, count, unit = ''] = match;
  const span = milliseconds[unit];
  const past =
    span === undefined
      ? monthsBefore(now, Number(count) * (months[unit] ?? 0))
      : new Date(now.getTime() - Number(count) * span);
  return past.getUTCFullYear() >= 1 ? past : null;
}

function monthsBefore(now: Date, count: number): Date {
  const past = new Date(now);
  past.setUTCMonth(past.getUTCMonth() - count);
  // If the month does not have this day, use the month's last day.
  if (past.getUTCDate() !== now.getUTCDate()) past.setUTCDate(0);
  return past;
}

/**
 * Parses a time in a query parameter.
 * @throws AppError `invalid` naming `attr`
 */
export function parseTimeParameter(text: string, attr: string, now: Date): Date {
  const time = parseRelativeTime(text, now);
  if (time !== null) return time;
  throw new AppError(
    'invalid',
    'Datetime has wrong format. Use YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z], or a relative time: -30s, -5M ' +
      '(minutes), -24h, -7d, -2w, -1m (months), -1q, -1y.',
    { attr },
  );
}
