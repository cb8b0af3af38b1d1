/**
 * ISO 8601 as it is written less often: without hyphens and colons (`20261122T100000Z`), and dates told by the week
 * (`2021-W43-5`) or by the day of the year (`2021-302`). The time of day is optional, with a zone or without.
 */
export const basicIso =
  /^(?<year>\d{4})(?:(?<month>\d{2})(?<day>\d{2})|-?W(?<week>\d{2})(?:-?(?<weekday>[1-7]))?|-(?<dayOfYear>\d{3}))(?:[T ](?<hour>\d{2})(?::?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const dayMs = 86_400_000;

/** The date as `2021-10-29`; null when the year has no such week. @param weekday 1 is Monday. */
export function dayOfWeekDate(year: number, week: number, weekday: number): string | null {
  const mondayMs = firstWeekMs(year) + (week - 1) * 7 * dayMs;
  if (week < 1 || mondayMs >= firstWeekMs(year + 1)) return null;
  return dateOf(mondayMs + (weekday - 1) * dayMs);
}

/** The date as `2021-10-29`; null when the year has no such day. */
export function dayOfYearDate(year: number, day: number): string | null {
  const ms = startOfYearMs(year) + (day - 1) * dayMs;
  return day < 1 || ms >= startOfYearMs(year + 1) ? null : dateOf(ms);
}

/** The Monday of the week that has the fourth of January in it. */
function firstWeekMs(year: number): number {
  const fourthMs = startOfYearMs(year) + 3 * dayMs;
  const daysSinceMonday = (new Date(fourthMs).getUTCDay() + 6) % 7;
  return fourthMs - daysSinceMonday * dayMs;
}

/** `Date.UTC` takes years below 100 for the twentieth century. */
function startOfYearMs(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
