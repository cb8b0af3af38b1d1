const dayMs = 86_400_000;

/** A time zone's clocks. Times are milliseconds since 1970; a wall time is what a clock shows, read as if it were UTC. */
export interface TimeZone {
  toWallTime(instant: number): number;
  /**
   * The moment at which the clocks show a wall time. Shown twice (clocks are put back): the first one. Never shown
   * (clocks are put forward): calculated with the offset in force before, so 02:30 becomes 03:30 (RFC 5545 3.3.5).
   */
  toInstant(wallTime: number): number;
}

const utc: TimeZone = { toWallTime: (instant) => instant, toInstant: (wallTime) => wallTime };

/**
 * Whether this is the name of a time zone, current or historical, as the IANA database writes it. An offset such as
 * `+02:00` is none, although Intl takes it; nor is a name in another case, which other programs would not find.
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

/** @param name IANA name; one that is not known counts as UTC, for a stored name may outlive the zone. */
export function timeZone(name: string): TimeZone {
  if (name === 'UTC' || !isTimeZone(name)) return utc;
  const formatter = formatterOf(name);
  const offsetAt = (instant: number) => wallTimeOf(formatter, instant) - instant;
  return {
    toWallTime: (instant) => instant + offsetAt(instant),
    toInstant(wallTime) {
      // Clocks are not changed twice within two days.
      const before = wallTime - offsetAt(wallTime - dayMs);
      const after = wallTime - offsetAt(wallTime + dayMs);
      if (before === after) return before;
      const shown = [before, after].filter((instant) => instant + offsetAt(instant) === wallTime);
      return shown.length > 0 ? Math.min(...shown) : before;
    },
  };
}

/** Making one takes longer than what is asked of it. Names that are none are not kept, so there are some hundreds at most. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError when there is no such zone. */
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

/** To the second: clocks never differ from UTC by less. */
function wallTimeOf(formatter: Intl.DateTimeFormat, instant: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const wallTime = new Date(0);
  wallTime.setUTCFullYear(year, month - 1, day);
  return wallTime.setUTCHours(hour, minute, second) + (((instant % 1000) + 1000) % 1000);
}
