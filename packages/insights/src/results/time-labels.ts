// Formats times for responses, in the project time zone.

import type { Clock, Period } from '../plan/dates.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a period's `days` and `labels` in the response format. */
export function formatBucketLabels(
  { edges, end, interval, from, to }: Period,
  { zone }: Clock,
): { days: string[]; labels: string[] } {
  const walls = [...edges, end].map((edge) => zone.toWallTime(edge));
  const isShort = interval === 'hour' || interval === 'minute';
  const days = walls.slice(0, -1).map((wall) =>
    new Date(wall)
      .toISOString()
      .slice(0, isShort ? 19 : 10)
      .replace('T', ' '),
  );
  const [first, last] = [zone.toWallTime(from), zone.toWallTime(to - 1)];
  const labels = walls.slice(0, -1).map((wall, at) => {
    const date = new Date(wall);
    if (isShort) return `${date.getUTCDate()}-${monthName(date)} ${date.toISOString().slice(11, 16)}`;
    if (interval === 'day') return dayLabel(date);
    if (interval === 'month') return `${monthName(date)} ${date.getUTCFullYear()}`;
    return weekLabel(new Date(Math.max(wall, first)), new Date(Math.min((walls[at + 1] ?? 0) - 1, last)));
  });
  return { days, labels };
}

const monthName = (date: Date) => months[date.getUTCMonth()] ?? '';
const dayLabel = (date: Date) => `${date.getUTCDate()}-${monthName(date)}-${date.getUTCFullYear()}`;

/** Formats the days of a week that are within the range, for example `13–19 May` or `29-Apr – 5-May`. */
function weekLabel(first: Date, last: Date): string {
  if (first.toISOString().slice(0, 10) === last.toISOString().slice(0, 10)) return dayLabel(first);
  if (first.getUTCFullYear() !== last.getUTCFullYear()) return `${dayLabel(first)} – ${dayLabel(last)}`;
  if (first.getUTCMonth() === last.getUTCMonth())
    return `${first.getUTCDate()}–${last.getUTCDate()} ${monthName(last)}`;
  return `${first.getUTCDate()}-${monthName(first)} – ${last.getUTCDate()}-${monthName(last)}`;
}

/** Formats a time as ISO 8601 with the time zone's offset, or `Z` if the offset is zero. */
export function formatIso(instant: number, { zone }: Pick<Clock, 'zone'>, digits = ''): string {
  const wall = zone.toWallTime(instant);
  const minutes = Math.round((wall - instant) / 60_000);
  const text = new Date(wall).toISOString().slice(0, 19) + digits;
  if (minutes === 0) return `${text}Z`;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${text}${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
