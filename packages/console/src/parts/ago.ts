// Formats times relative to the current time, such as "2 hours ago".

import { words } from '../words.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Formats a time, for example as `2 hours ago`, `yesterday` or `just now`. Returns an invalid time unchanged. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const step = steps.find(([, size]) => Math.abs(seconds) >= size);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : words.justNow;
}

/**
 * Formats a past time relative to the current time. If the server's clock is ahead, a past time may appear to be in the
 * future. It is then treated as the current time.
 */
export const formatPast = (iso: string, now = Date.now()): string =>
  Date.parse(iso) > now ? words.justNow : formatAgo(iso, now);
