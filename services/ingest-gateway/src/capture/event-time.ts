// Determines when an event happened, and parses the timestamp formats that SDKs send.

import type { ClientEvent } from './client-event.ts';
import type { TimeFinding } from './drops.ts';

/** 23 hours. A timestamp further in the future means that the client's clock is wrong. */
const furthestFutureMs = 82_800_000;
const lastOfYear9999Ms = Date.UTC(10_000, 0, 1) - 1;
/** PostgreSQL has no year 0, so no earlier time can be stored. */
const firstOfYear1Ms = new Date(0).setUTCFullYear(1, 0, 1);

interface EventTime {
  ms: number;
  /** The warning for the project (docs/wire-rules.md#times), or null if the timestamp was stored unchanged. */
  finding: TimeFinding | null;
}

/**
 * Returns when the event happened, by the rules in docs/wire-rules.md#times (cases time-001 to time-014):
 *
 * - The difference between `sentAtMs` and `nowMs` corrects the client's clock.
 * - `offset` counts back from `nowMs` and replaces the timestamp.
 * - A time too far in the future becomes `nowMs`.
 * - A year that cannot be stored becomes the Unix epoch.
 *
 * @param sentAtMs when the client sent the request, according to its own clock. Null if unknown.
 * @param nowMs when the gateway received the request
 */
export function readEventTime(event: ClientEvent, sentAtMs: number | null, nowMs: number): EventTime {
  const ms = claimedTimeMs(event, sentAtMs, nowMs);
  if (ms === null) return { ms: nowMs, finding: 'ignored_invalid_timestamp' };
  if (ms > nowMs + furthestFutureMs) return { ms: nowMs, finding: 'event_timestamp_in_future' };
  if (ms < firstOfYear1Ms || ms > lastOfYear9999Ms) return { ms: 0, finding: 'ignored_invalid_timestamp' };
  return { ms, finding: null };
}

/**
 * Returns the event's timestamp as a string, or null if it is missing or empty. A number is in Unix seconds or
 * milliseconds.
 */
export function readTimestampText({ timestamp }: ClientEvent): string | null {
  if (typeof timestamp === 'number') return String(timestamp);
  return typeof timestamp !== 'string' || timestamp.trim() === '' ? null : timestamp;
}

/** Returns null if the timestamp cannot be parsed. */
function claimedTimeMs(event: ClientEvent, sentAtMs: number | null, nowMs: number): number | null {
  if (typeof event.offset === 'number') return nowMs - event.offset;
  const timestamp = readTimestampText(event);
  if (timestamp === null) return nowMs;
  const timestampMs = parseTimestamp(timestamp);
  if (timestampMs === null) return null;
  if (sentAtMs === null || event.properties?.$ignore_sent_at === true) return timestampMs;
  return timestampMs - (sentAtMs - nowMs);
}

/** A query parameter `_` below this is in seconds, or not a time. PostHog ignores years up to 2020 (case time-012). */
const oldestQueryMs = Date.UTC(2021, 0, 1);
const newestMs = Date.UTC(9999, 11, 31);
const oldestMs = new Date(0).setUTCFullYear(1, 0, 2);

/**
 * Returns when the client sent the request, by its own clock: the batch's `sent_at` (a date and time with a time zone),
 * or else the query parameter `_` (milliseconds). Returns null if neither can be parsed (docs/wire-rules.md#times).
 */
export function readSentAt(inBatch: unknown, inQuery: string | null): number | null {
  const fromBatch = readInBatch(inBatch);
  if (fromBatch !== null) return fromBatch;
  if (inQuery === null || !/^\d{1,15}$/.test(inQuery)) return null;
  const ms = Number(inQuery);
  return ms >= oldestQueryMs && ms <= newestMs ? ms : null;
}

/**
 * Returns the batch's `sent_at` for the warning if it cannot be parsed. Returns undefined if it is missing or valid.
 */
export function findUnreadableSentAt(inBatch: unknown): string | undefined {
  if (inBatch === undefined || inBatch === null || inBatch === '' || readInBatch(inBatch) !== null) return undefined;
  return typeof inBatch === 'string' ? inBatch : `a value of type ${typeof inBatch}`;
}

function readInBatch(sentAt: unknown): number | null {
  const ms = typeof sentAt === 'string' ? parseZonedTimestamp(sentAt.trim()) : null;
  return ms !== null && ms >= oldestMs && ms <= newestMs ? ms : null;
}

const isoLike =
  /^([+-]?\d{4,6})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const monthFirst =
  /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:,? (\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: (AM|PM))?)?$/i;
const mailDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: (Z|UT|UTC|GMT|[+-]\d{4}))?)?$/i;
/** Matches the output of `Date.prototype.toString` without the time zone name in parentheses. */
const printedDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]* (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (\d{1,2}) (\d{4})(?: (\d{1,2}):(\d{2}):(\d{2})(?: (?:GMT|UTC)([+-]\d{4})?)?)?$/i;
const zoneName = / \([^()]*\)$/;
const unixTime = /^(\d{9,19})(?:\.\d{1,9})?$/;
const strictIso = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const minuteMs = 60_000;
/** Longer strings are not dates, so they are not matched against the patterns. */
const longestText = 64;
const longestZoneName = 64;

/**
 * Parses a point in time. Returns milliseconds since the epoch, or null for any other text. Accepts RFC 3339 (also with
 * a two-digit offset, a space instead of the T, or no offset, which means UTC), a date without a time, ISO 8601 without
 * hyphens and colons, ISO week dates and ordinal dates, dates with slashes, RFC 2822, JavaScript's `String(date)`, and
 * Unix seconds or milliseconds as digits. Cases time-007, time-013, time-014 and ingest-129 (docs/wire-rules.md#times).
 */
export function parseTimestamp(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length > longestText + longestZoneName) return null;
  const bare = trimmed.replace(zoneName, '');
  if (bare.length > longestText) return null;
  return (
    fromUtcText(bare, readIso) ??
    readIso(bare) ??
    readUnixTime(bare) ??
    readBasicIso(bare) ??
    readMonthFirst(bare) ??
    readMailDate(bare) ??
    readPrintedDate(bare)
  );
}

/** Like `parseTimestamp`, but accepts only a date and time with a UTC offset (docs/wire-rules.md#times, rule 1). */
export function parseZonedTimestamp(text: string): number | null {
  return fromUtcText(text, readIso) ?? (text.length <= longestText && strictIso.test(text) ? readIso(text) : null);
}

function readIso(text: string): number | null {
  const match = isoLike.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  return assemble({ year, month, day, hour, minute, second, fraction, zone });
}

function readBasicIso(text: string): number | null {
  const { year, month, day, week, weekday, dayOfYear, ...time } = basicIso.exec(text)?.groups ?? {};
  if (year === undefined) return null;
  if (week !== undefined) return assembleDay(dayOfWeekDate(Number(year), Number(week), Number(weekday ?? 1)), time);
  if (dayOfYear !== undefined) return assembleDay(dayOfYearDate(Number(year), Number(dayOfYear)), time);
  return assemble({ year, month, day, ...time });
}

function assembleDay(date: string | null, time: TimeFields): number | null {
  if (date === null) return null;
  const [year, month, day] = date.split('-');
  return assemble({ year, month, day, ...time });
}

function readMonthFirst(text: string): number | null {
  const match = monthFirst.exec(text);
  if (match === null) return null;
  const [, month, day, year, hour, minute, second, fraction, half] = match;
  if (half === undefined) return assemble({ year, month, day, hour, minute, second, fraction });
  const hour12 = Number(hour);
  if (hour12 < 1 || hour12 > 12) return null;
  const hour24 = (hour12 % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  return assemble({ year, month, day, hour: String(hour24), minute, second, fraction });
}

function readMailDate(text: string): number | null {
  const match = mailDate.exec(text);
  if (match === null) return null;
  const [, day, name = '', year, hour, minute, second, zone] = match;
  return assemble({ year, month: monthNamed(name), day, hour, minute, second, zone });
}

function readPrintedDate(text: string): number | null {
  const match = printedDate.exec(text);
  if (match === null) return null;
  const [, name = '', day, year, hour, minute, second, zone] = match;
  return assemble({ year, month: monthNamed(name), day, hour, minute, second, zone });
}

function monthNamed(name: string): string {
  return String(months.indexOf(name.toLowerCase()) + 1);
}

/** Parses a Unix time. The number of digits determines the unit, which is unambiguous until the year 5138. */
function readUnixTime(text: string): number | null {
  const match = unixTime.exec(text);
  const digits = match?.[1];
  if (digits === undefined) return null;
  if (digits.length <= 11) return Math.floor(Number(text) * 1000);
  if (digits.length <= 14) return Number(digits);
  if (digits.length <= 16) return Math.floor(Number(digits) / 1000);
  return digits.length === 19 ? Number(digits.slice(0, 13)) : null;
}

type TimeFields = { [field in 'hour' | 'minute' | 'second' | 'fraction' | 'zone']?: string | undefined };
type DateFields = Record<'year' | 'month' | 'day', string | undefined> & TimeFields;

function assemble(fields: DateFields): number | null {
  const year = Number(fields.year);
  const month = Number(fields.month);
  const day = Number(fields.day);
  const hour = Number(fields.hour ?? 0);
  const minute = Number(fields.minute ?? 0);
  // A leap second is stored as the last millisecond of its minute.
  const isLeapSecond = fields.second === '60';
  const second = isLeapSecond ? 59 : Number(fields.second ?? 0);
  const millisecond = isLeapSecond ? 999 : Number((fields.fraction ?? '').padEnd(3, '0').slice(0, 3));
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const zoneMinutes = readZone(fields.zone);
  if (zoneMinutes === null) return null;
  // `Date.UTC` adds 1900 to years below 100.
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second, millisecond));
  const local = year === 2000 ? date.getTime() : date.setUTCFullYear(year, month - 1, day);
  const ms = local - zoneMinutes * minuteMs;
  return Number.isNaN(ms) ? null : ms;
}

function readZone(zone: string | undefined): number | null {
  if (zone === undefined || !/^[+-]/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return null;
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Matches less common forms of ISO 8601: without hyphens and colons (`20261122T100000Z`), week dates (`2021-W43-5`) and
 * ordinal dates (`2021-302`). The time of day and its offset are optional.
 */
const basicIso =
  /^(?<year>\d{4})(?:(?<month>\d{2})(?<day>\d{2})|-?W(?<week>\d{2})(?:-?(?<weekday>[1-7]))?|-(?<dayOfYear>\d{3}))(?:[T ](?<hour>\d{2})(?::?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const dayMs = 86_400_000;

/**
 * Returns the date of a weekday in an ISO week, such as `2021-10-29`, or null if the year has no such week.
 * @param weekday a number from 1 (Monday) to 7
 */
function dayOfWeekDate(year: number, week: number, weekday: number): string | null {
  const mondayMs = firstWeekMs(year) + (week - 1) * 7 * dayMs;
  if (week < 1 || mondayMs >= firstWeekMs(year + 1)) return null;
  return dateOf(mondayMs + (weekday - 1) * dayMs);
}

/**
 * Converts a year and a day of the year to a date such as `2021-10-29`. Returns null if the year does not have this
 * day.
 */
function dayOfYearDate(year: number, day: number): string | null {
  const ms = startOfYearMs(year) + (day - 1) * dayMs;
  return day < 1 || ms >= startOfYearMs(year + 1) ? null : dateOf(ms);
}

/** Returns the Monday of the week that contains January 4, which is the first ISO week of the year. */
function firstWeekMs(year: number): number {
  const fourthMs = startOfYearMs(year) + 3 * dayMs;
  const daysSinceMonday = (new Date(fourthMs).getUTCDay() + 6) % 7;
  return fourthMs - daysSinceMonday * dayMs;
}

/**
 * Returns the start of a year. `Date.UTC` is not used, because it interprets years below 100 as years of the twentieth
 * century.
 */
function startOfYearMs(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

// `formatUtc` and `fromUtcText` handle the format that nearly all SDKs send and that log records use:
// `2026-11-21T12:34:56.789Z`. They cache the last date, because most timestamps in a request are from the same day.
// Each event needs three such conversions, and the built-in functions take four times as long.

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

let lastWrittenDay = 0;
let lastWrittenDate = '1970-01-01T';

/** Formats a time like `Date.prototype.toISOString`. @param ms the time in whole milliseconds since the epoch */
export function formatUtc(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (day !== lastWrittenDay) {
    lastWrittenDate = new Date(day * dayMs).toISOString().slice(0, -'00:00:00.000Z'.length);
    lastWrittenDay = day;
  }
  const rest = ms - day * dayMs;
  const hour = twoDigits[Math.floor(rest / 3_600_000)];
  const minute = twoDigits[Math.floor(rest / 60_000) % 60];
  const second = twoDigits[Math.floor(rest / 1000) % 60];
  return `${lastWrittenDate}${hour}:${minute}:${second}.${threeDigits[rest % 1000]}Z`;
}

let lastReadDate = '1970-01-01T';
let lastReadDateMs = 0;

/**
 * Returns milliseconds since the epoch, or null if the string has a different format.
 * @param readDay a function that parses a date without a time, and returns null if the day does not exist
 */
function fromUtcText(text: string, readDay: (date: string) => number | null): number | null {
  if (text.length !== 24 || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return null;
  if (text[19] !== '.' || text[23] !== 'Z') return null;
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const millisecond = digits(text, 20, 23);
  // `digits` returns NaN for non-digits, which makes the comparison false.
  if (!(hour < 24 && minute < 60 && second < 60 && millisecond < 1000)) return null;
  if (!text.startsWith(lastReadDate)) {
    const ms = readDay(text.slice(0, 10));
    if (ms === null) return null;
    lastReadDate = text.slice(0, 11);
    lastReadDateMs = ms;
  }
  return lastReadDateMs + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
}

function digits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
