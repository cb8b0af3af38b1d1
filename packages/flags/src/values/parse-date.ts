import type { TimeZone } from '@millrace/schedule';

const isoDate = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const isoDateTime =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|z| ?UTC|[+-]\d{2}:\d{2})?$/;
const rfc2822 =
  /^(?:[A-Z][a-z]{2}, ?)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? (GMT|UTC|[+-]\d{4})$/;
const epoch = /^(?:\d{10}|\d{13})$/;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * A moment in milliseconds since 1970, or null for a text that names none. Dates and times without an offset are those of
 * the project's clocks; a bare date is its midnight. A time that the clocks skip is no moment.
 */
export function parseDate(text: string, zone: TimeZone): number | null {
  const trimmed = text.trim();
  if (epoch.test(trimmed)) return trimmed.length === 10 ? Number(trimmed) * 1000 : Number(trimmed);
  const date = isoDate.exec(trimmed);
  if (date) return fromWallTime(wallTime(numbersOf(date.slice(1))), zone);
  const dateTime = isoDateTime.exec(trimmed);
  if (dateTime) {
    const wall = wallTime(numbersOf(dateTime.slice(1, 7)), Number(dateTime[7] ?? 0) * 1000);
    const offset = dateTime[8];
    return offset === undefined ? fromWallTime(wall, zone) : minus(wall, offsetMs(offset));
  }
  return parseMailDate(trimmed);
}

function parseMailDate(text: string): number | null {
  const [, day, month = '', year, hour, minute, second, offset] = rfc2822.exec(text) ?? [];
  if (offset === undefined || !months.includes(month)) return null;
  const wall = wallTime(numbersOf([year, String(months.indexOf(month) + 1), day, hour, minute, second]));
  return minus(wall, offsetMs(offset));
}

function numbersOf(parts: (string | undefined)[]): number[] {
  return parts.map((part) => Number(part ?? 0));
}

/** Null for what no calendar or clock shows, such as 31 February or 24:00. */
function wallTime(
  [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: number[],
  fractionMs = 0,
): number | null {
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  const isReal = shown.getUTCMonth() === month - 1 && shown.getUTCDate() === day;
  if (!isReal || hour > 23 || minute > 59 || second > 59) return null;
  return shown.setUTCHours(hour, minute, second) + fractionMs;
}

function fromWallTime(wall: number | null, zone: TimeZone): number | null {
  if (wall === null) return null;
  const instant = zone.toInstant(wall);
  return zone.toWallTime(instant) === wall ? instant : null;
}

function offsetMs(offset: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(offset) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function minus(wall: number | null, offset: number): number | null {
  return wall === null ? null : wall - offset;
}
