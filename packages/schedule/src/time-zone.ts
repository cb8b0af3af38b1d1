// Converts between instants and local time in a time zone.

const dayMs = 86_400_000;

/**
 * An instant is a number of milliseconds since the epoch. A wall time is a local time that is represented as if it were
 * in UTC.
 */
export interface TimeZone {
  toWallTime(instant: number): number;
  /**
   * Returns the instant of a wall time. If the wall time occurs twice because clocks go back, returns the first
   * instant. If clocks go forward and skip the wall time, computes the instant with the offset before the change, so
   * 02:30 becomes 03:30 (RFC 5545 section 3.3.5).
   */
  toInstant(wallTime: number): number;
}

const utc: TimeZone = { toWallTime: (instant) => instant, toInstant: (wallTime) => wallTime };

/**
 * Returns whether `name` is exactly the name of a current or historical time zone in the IANA database. Rejects an
 * offset such as `+02:00` and a name in a different case. Intl accepts both, but other programs would not find them.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the conversions for a time zone.
 * @param name IANA name. A name that does not exist is treated as UTC, because a time zone can be removed after its
 *   name was stored.
 */
export function createTimeZone(name: string): TimeZone {
  if (name === 'UTC' || !isTimeZone(name)) return utc;
  const formatter = formatterOf(name);
  const offsetAt = (instant: number) => wallTimeOf(formatter, instant) - instant;
  return {
    toWallTime: (instant) => instant + offsetAt(instant),
    toInstant(wallTime) {
      // A time zone never changes its offset twice within two days.
      const before = wallTime - offsetAt(wallTime - dayMs);
      const after = wallTime - offsetAt(wallTime + dayMs);
      if (before === after) return before;
      const shown = [before, after].filter((instant) => instant + offsetAt(instant) === wallTime);
      return shown.length > 0 ? Math.min(...shown) : before;
    },
  };
}

/**
 * A time range in which a time zone's UTC offset does not change. All fields are in milliseconds, and `to` is
 * exclusive.
 */
export interface OffsetSpan {
  from: number;
  to: number;
  offset: number;
}

/** Returns a time zone's offsets within a time range, in chronological order. @param name as in `createTimeZone` */
export function listOffsetSpans(name: string, { from, to }: { from: number; to: number }): OffsetSpan[] {
  const { toWallTime } = createTimeZone(name);
  const offsetAt = (instant: number) => toWallTime(instant) - instant;
  let span: OffsetSpan = { from, to, offset: offsetAt(from) };
  const spans = [span];
  // A time zone never changes its offset twice within two days.
  for (let [low, high] = [from, from]; high < to; low = high) {
    high = Math.min(low + 2 * dayMs, to);
    if (offsetAt(high) === span.offset) continue;
    let [before, after] = [low, high];
    while (after - before > 1000) {
      const middle = before + 1000 * Math.floor((after - before) / 2000);
      if (offsetAt(middle) === span.offset) before = middle;
      else after = middle;
    }
    span.to = after;
    span = { from: after, to, offset: offsetAt(after) };
    spans.push(span);
  }
  return spans.filter((one) => one.from < one.to);
}

/**
 * Creating a formatter takes longer than using it. Only valid names are cached, so the cache has at most a few hundred
 * entries.
 */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Returns a cached formatter. @throws RangeError if the time zone does not exist */
function formatterOf(name: string): Intl.DateTimeFormat {
  const known = formatters.get(name);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formatters.set(name, formatter);
  return formatter;
}

/** Formatting to the second is precise enough, because UTC offsets are whole seconds. */
function wallTimeOf(formatter: Intl.DateTimeFormat, instant: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const wallTime = new Date(0);
  wallTime.setUTCFullYear(year, month - 1, day);
  return wallTime.setUTCHours(hour, minute, second) + (((instant % 1000) + 1000) % 1000);
}
