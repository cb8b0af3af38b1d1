// Computes date ranges and their intervals in the project time zone. A "wall time" is a local time that is stored as if
// it were UTC.

import { createTimeZone, type TimeZone } from '@millrace/schedule';
import { createQueryError, type Interval } from '../query-parts.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** 1 January 1970 was a Thursday, four days after a Sunday. */
const sundayOffset = 4;
const maxBuckets = 10_000;
/** A time that is earlier than all recorded events. */
export const earliestTime = Date.UTC(2015, 0, 1);

export interface Clock {
  zone: TimeZone;
  zoneName: string;
  /** The first day of the week, from 0 for Sunday to 6 for Saturday. */
  weekStart: number;
  now: number;
}

export function createClock(zoneName: string, weekStart: number | null, now: number): Clock {
  return { zone: createTimeZone(zoneName), zoneName, weekStart: weekStart ?? 0, now };
}

/** A time that was parsed from a query. */
interface Moment {
  instant: number;
  /** The unit of a relative time, such as the `d` in `-7d`. */
  unit: string | null;
  count: number;
  /** Whether the time is the start of the current unit, such as `mStart`. */
  isToDate: boolean;
}

const relative = /^-?(\d{1,5})?([hdwmqyMs])(Start|End)?$/;
const absolute =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d{2}:?\d{2})?$/;

/** Parses an absolute or relative time. @returns null if the text is not a time. */
export function parseMoment(text: string, clock: Clock): Moment | null {
  const match = relative.exec(text);
  if (match === null) {
    const year = Number(text.trim().slice(0, 4));
    const instant = year < 1970 || year > 2199 ? null : parseAbsoluteTime(text, clock.zone);
    return instant === null ? null : { instant, unit: null, count: 0, isToDate: false };
  }
  const [, digits = '0', unit = '', edge] = match;
  const count = Number(digits);
  const current = clock.zone.toWallTime(clock.now);
  const wall =
    edge === undefined
      ? back(current, count, unit)
      : edgeOf(current, { count, unit, isStart: edge === 'Start' }, clock);
  return {
    instant: unit === 'h' && edge === undefined ? clock.now - count * hourMs : clock.zone.toInstant(wall),
    unit,
    count,
    isToDate: edge === 'Start' && count === 0 && unit in longUnits,
  };
}

/** Parses an ISO 8601 time. A time without an offset is in the given time zone. */
export function parseAbsoluteTime(text: string, zone: TimeZone): number | null {
  const match = absolute.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', offset] = match;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const wall = Date.UTC(
    y,
    m - 1,
    d,
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  );
  const exists = new Date(Date.UTC(y, m - 1, d)).getUTCDate() === d && m >= 1 && m <= 12 && Number(hour) < 24;
  if (!exists) return null;
  if (offset === undefined) return zone.toInstant(wall);
  if (/z/i.test(offset)) return wall;
  const [, sign, hours, minutes] = /([+-])(\d{2}):?(\d{2})/.exec(offset) ?? [];
  return wall - (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs);
}

/** Subtracts units from a local time. If the resulting month has too few days, returns the month's last day. */
function back(wall: number, count: number, unit: string): number {
  switch (unit) {
    case 's':
      return wall - count * 1000;
    case 'M':
      return wall - count * minuteMs;
    case 'h':
      return wall - count * hourMs;
    case 'd':
      return wall - count * dayMs;
    case 'w':
      return wall - count * 7 * dayMs;
    case 'q':
      return wall - count * 13 * 7 * dayMs;
    case 'm':
      return monthsLater(wall, -count);
    default:
      return monthsLater(wall, -12 * count);
  }
}

function monthsLater(wall: number, count: number): number {
  const date = new Date(wall);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + count);
  const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, length));
}

/** Calendar units longer than a day. */
const longUnits: Record<string, (wall: number, count: number) => number> = {
  w: (wall, count) => wall + count * 7 * dayMs,
  m: monthsLater,
  q: (wall, count) => monthsLater(wall, 3 * count),
  y: (wall, count) => monthsLater(wall, 12 * count),
};

/** For `Start`, returns the first millisecond of a calendar unit, and for `End`, its last millisecond. */
function edgeOf(
  wall: number,
  { count, unit, isStart }: { count: number; unit: string; isStart: boolean },
  { weekStart }: Pick<Clock, 'weekStart'>,
): number {
  const move = longUnits[unit] ?? ((at: number, by: number) => back(at, -by, unit));
  const start = beginningOf(move(wall, -count), unit, weekStart);
  return isStart ? start : move(start, 1) - 1;
}

function beginningOf(wall: number, unit: string, weekStart: number): number {
  const year = new Date(wall).getUTCFullYear();
  switch (unit) {
    case 's':
      return floorTo(wall, 1000);
    case 'M':
      return floorTo(wall, minuteMs);
    case 'h':
      return floorTo(wall, hourMs);
    case 'd':
      return floorTo(wall, dayMs);
    case 'w':
      return findIntervalStart('week', wall, { weekStart });
    case 'm':
      return monthOf(wall);
    case 'q':
      return Date.UTC(year, Math.floor(new Date(wall).getUTCMonth() / 3) * 3, 1);
    default:
      return Date.UTC(year, 0, 1);
  }
}

const floorTo = (wall: number, length: number) => Math.floor(wall / length) * length;
const monthOf = (wall: number) => Date.UTC(new Date(wall).getUTCFullYear(), new Date(wall).getUTCMonth(), 1);

/** Returns the start of the interval that contains a local time. */
export function findIntervalStart(interval: Interval, wall: number, { weekStart }: Pick<Clock, 'weekStart'>): number {
  switch (interval) {
    case 'minute':
      return floorTo(wall, minuteMs);
    case 'hour':
      return floorTo(wall, hourMs);
    case 'day':
      return floorTo(wall, dayMs);
    case 'week': {
      const offset = sundayOffset - weekStart;
      return (Math.floor((wall / dayMs + offset) / 7) * 7 - offset) * dayMs;
    }
    case 'month':
      return monthOf(wall);
    default:
      return interval satisfies never;
  }
}

/** Returns the start of the interval that is `count` intervals after the interval at `instant`. */
export function addIntervals(
  interval: Interval,
  instant: number,
  count: number,
  { zone }: Pick<Clock, 'zone'>,
): number {
  // Minutes are elapsed time, so a local hour that occurs twice has 120 minutes.
  if (interval === 'minute') return instant + count * minuteMs;
  if (interval === 'hour') return instant + count * hourMs;
  const wall = zone.toWallTime(instant);
  // If the day has no midnight because of a clock change, the interval starts a little later.
  const day = floorTo(wall, dayMs);
  const moved =
    interval === 'month' ? monthsLater(monthOf(wall), count) : day + count * (interval === 'week' ? 7 : 1) * dayMs;
  return zone.toInstant(moved);
}

/**
 * A range from `from` up to but not including `to`, divided into intervals. The intervals start at `edges`, and the
 * last one ends at `end`.
 */
export interface Period {
  from: number;
  to: number;
  interval: Interval;
  edges: number[];
  end: number;
}

/** @throws AppError if the range has too many intervals */
export function splitIntoBuckets(range: { from: number; to: number }, interval: Interval, clock: Clock): Period {
  const { from, to } = range;
  const edges: number[] = [];
  const wall = findIntervalStart(interval, clock.zone.toWallTime(from), clock);
  // If a local hour occurs twice, use the occurrence that contains the instant.
  const isReal = interval === 'hour' || interval === 'minute';
  let edge = isReal ? from - (clock.zone.toWallTime(from) - wall) : clock.zone.toInstant(wall);
  while (edge < to) {
    if (edges.length === maxBuckets)
      throw createQueryError(
        'dateRange',
        `A date range can have at most ${maxBuckets} intervals. Choose a longer interval or a shorter date range.`,
      );
    edges.push(edge);
    edge = addIntervals(interval, edge, 1, clock);
  }
  return { from, to, interval, edges, end: edge };
}

export interface RequestedRange {
  date_from?: string | undefined;
  date_to?: string | undefined;
  explicitDate?: boolean | undefined;
}

export interface Range {
  from: number;
  /** Exclusive end of the range. */
  to: number;
  /** The parsed `date_from`, before it is moved to the start of its interval. */
  requested: Moment;
}

/**
 * Returns the range of a query.
 * @param isExact whether to keep the exact start and to end the range now
 * @param earliest the time of the first selected event, which is the start of the range `all`
 */
export function resolveRange(
  { date_from: fromText, date_to: toText, explicitDate = false }: RequestedRange,
  {
    interval,
    clock,
    earliest,
    isExact = false,
  }: { interval: Interval; clock: Clock; earliest: number | null; isExact?: boolean },
): Range {
  const { zone, now } = clock;
  const requested = readRequestedStart(fromText, clock, earliest);
  const to =
    toText === undefined || toText === ''
      ? { instant: now, unit: 'd', count: 0, isToDate: false }
      : require(toText, 'dateRange.date_to', clock);
  const endsLiterally = explicitDate || (isExact && !toText);
  const from =
    explicitDate || (isExact && requested.unit !== null) ? requested.instant : beginning(requested, interval, clock);
  return { from, to: endsLiterally ? to.instant + 1 : ending(), requested };

  function ending(): number {
    const wall = zone.toWallTime(to.instant);
    if (interval === 'minute') return to.instant + 1;
    if (interval === 'hour')
      return to.unit === null ? to.instant + 1 : to.instant - (wall - floorTo(wall, hourMs)) + hourMs;
    return zone.toInstant(floorTo(wall, dayMs) + dayMs);
  }
}

function readRequestedStart(text: string | undefined, clock: Clock, earliest: number | null): Moment {
  if (text === 'all' && earliest !== null)
    return { instant: Math.max(earliest, earliestTime), unit: null, count: 0, isToDate: false };
  return text === undefined || text === '' || text === 'all'
    ? { ...require('-7d', 'dateRange', clock) }
    : require(text, 'dateRange.date_from', clock);
}

/**
 * Moves the requested start to the start of its hour, day or month, depending on the interval and on the unit of the
 * requested time.
 */
function beginning({ instant, unit }: Moment, interval: Interval, { zone }: Clock): number {
  const wall = zone.toWallTime(instant);
  if (interval === 'minute') return instant;
  if (interval === 'month') return zone.toInstant(monthOf(wall));
  if (unit === 'h') return instant - (wall - floorTo(wall, hourMs));
  if (interval === 'hour' && unit === null) return instant;
  return zone.toInstant(floorTo(wall, dayMs));
}

function require(text: string, path: string, clock: Clock): Moment {
  const moment = parseMoment(text, clock);
  if (moment === null)
    throw createQueryError(
      path,
      `"${text.slice(0, 100)}" is not a valid time. Use an ISO 8601 time between 1970 and 2199, or ` +
        'a relative time such as -7d.',
    );
  return moment;
}

/**
 * Returns the previous range, or the one that `compareTo` describes. For the month to date, the previous range contains
 * the same days of the previous month.
 */
export function resolvePreviousRange(
  { from, to, requested }: Range,
  {
    interval,
    clock,
    compareTo,
    hasRelativeEnd,
    inWeeks,
  }: {
    interval: Interval;
    clock: Clock;
    compareTo: string | undefined;
    /** False if `date_to` is absent or is an absolute date. */
    hasRelativeEnd: boolean;
    /** Whether a month counts as four weeks and a year as 52 weeks. */
    inWeeks: boolean;
  },
): Range {
  const { zone } = clock;
  const move = requested.unit === null ? undefined : longUnits[requested.unit];
  if (compareTo === undefined && requested.isToDate && !hasRelativeEnd && move !== undefined) {
    const before = (instant: number) => zone.toInstant(move(zone.toWallTime(instant), -1));
    return { from: before(from), to: before(to - 1) + 1, requested };
  }
  const [start, length] = [zone.toWallTime(from), zone.toWallTime(to - 1) - zone.toWallTime(from)];
  let before: number;
  if (interval === 'minute' && compareTo === undefined) before = start - length - 1;
  else if (compareTo === undefined) {
    before = floorTo(start - length, dayMs) + (start - floorTo(start, dayMs));
    const isWeeks = requested.unit === 'd' && requested.count > 0 && requested.count % 7 === 0;
    const keepsWeekdays = interval === 'day' && isWeeks && !hasRelativeEnd;
    if (keepsWeekdays) before += dayMs;
  } else {
    const [, digits = '0', unit = ''] = relative.exec(compareTo) ?? [];
    if (unit === '') throw createQueryError('compareFilter.compare_to', 'Expected a relative time such as -1w.');
    const weeks = inWeeks ? { m: 4, y: 52 }[unit] : undefined;
    before = weeks === undefined ? back(start, Number(digits), unit) : back(start, weeks * Number(digits), 'w');
  }
  return { from: zone.toInstant(before), to: zone.toInstant(before + length) + 1, requested };
}
