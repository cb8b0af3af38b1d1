const isoLike =
  /^([+-]?\d{4,6})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const monthFirst =
  /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:,? (\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: (AM|PM))?)?$/i;
const mailDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: (Z|UT|UTC|GMT|[+-]\d{4}))?)?$/i;
/** What `Date.prototype.toString` gives; the name of the zone behind it is cut off before. */
const printedDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]* (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (\d{1,2}) (\d{4})(?: (\d{1,2}):(\d{2}):(\d{2})(?: (?:GMT|UTC)([+-]\d{4})?)?)?$/i;
const nameOfZone = / \([^()]*\)$/;
const unixTime = /^(\d{9,19})(?:\.\d{1,9})?$/;
const strictIso = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const minuteMs = 60_000;
/** Long texts are not dates, and patterns should not run over them. */
const longestText = 64;
const longestZoneName = 64;

/**
 * Reads a point in time from text, milliseconds since the epoch; null when it is none of the accepted forms: RFC 3339
 * (also with a two-digit zone, a space for the T, or no zone, which means UTC), a date alone, ISO 8601 without hyphens and
 * colons, its week and ordinal dates, slash dates, RFC 2822, what JavaScript prints of a date, and Unix seconds or
 * milliseconds as digits. Cases T07, T13, T14 and E-129 (docs/wire-rules.md#times).
 */
export function parseTimestamp(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length > longestText + longestZoneName) return null;
  const bare = trimmed.replace(nameOfZone, '');
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

/** As `parseTimestamp`, but only a full date-time with its zone. Source: the same section, rule 1. */
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

function assembleDay(date: string | null, time: TimeParts): number | null {
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

/** The number of digits tells seconds from smaller units: times of this epoch, until the year 5138. */
function readUnixTime(text: string): number | null {
  const match = unixTime.exec(text);
  const digits = match?.[1];
  if (digits === undefined) return null;
  if (digits.length <= 11) return Math.floor(Number(text) * 1000);
  if (digits.length <= 14) return Number(digits);
  if (digits.length <= 16) return Math.floor(Number(digits) / 1000);
  return digits.length === 19 ? Number(digits.slice(0, 13)) : null;
}

type TimeParts = { [part in 'hour' | 'minute' | 'second' | 'fraction' | 'zone']?: string | undefined };
type DateParts = Record<'year' | 'month' | 'day', string | undefined> & TimeParts;

function assemble(parts: DateParts): number | null {
  const year = Number(parts.year);
  const month = Number(parts.month);
  const day = Number(parts.day);
  const hour = Number(parts.hour ?? 0);
  const minute = Number(parts.minute ?? 0);
  // A leap second is the last millisecond of its minute.
  const isLeapSecond = parts.second === '60';
  const second = isLeapSecond ? 59 : Number(parts.second ?? 0);
  const millisecond = isLeapSecond ? 999 : Number((parts.fraction ?? '').padEnd(3, '0').slice(0, 3));
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const zoneMinutes = readZone(parts.zone);
  if (zoneMinutes === null) return null;
  // `Date.UTC` takes years below 100 for the twentieth century.
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
 * ISO 8601 as it is written less often: without hyphens and colons (`20261122T100000Z`), and dates told by the week
 * (`2021-W43-5`) or by the day of the year (`2021-302`). The time of day is optional, with a zone or without.
 */
const basicIso =
  /^(?<year>\d{4})(?:(?<month>\d{2})(?<day>\d{2})|-?W(?<week>\d{2})(?:-?(?<weekday>[1-7]))?|-(?<dayOfYear>\d{3}))(?:[T ](?<hour>\d{2})(?::?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const dayMs = 86_400_000;

/** The date as `2021-10-29`; null when the year has no such week. @param weekday 1 is Monday. */
function dayOfWeekDate(year: number, week: number, weekday: number): string | null {
  const mondayMs = firstWeekMs(year) + (week - 1) * 7 * dayMs;
  if (week < 1 || mondayMs >= firstWeekMs(year + 1)) return null;
  return dateOf(mondayMs + (weekday - 1) * dayMs);
}

/** The date as `2021-10-29`; null when the year has no such day. */
function dayOfYearDate(year: number, day: number): string | null {
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

/**
 * Points in time as nearly all SDKs write them and as records hold them: `2026-11-21T12:34:56.789Z`. The last date is
 * remembered, as most times of a moment are of one day: the built-in functions take four times as long, and a single
 * event needs three such times.
 */

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

let writtenDay = 0;
let writtenDate = '1970-01-01T';

/** As `Date.prototype.toISOString`. @param ms whole milliseconds since the epoch. */
export function toUtcText(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (day !== writtenDay) {
    writtenDate = new Date(day * dayMs).toISOString().slice(0, -'00:00:00.000Z'.length);
    writtenDay = day;
  }
  const rest = ms - day * dayMs;
  const hour = twoDigits[Math.floor(rest / 3_600_000)];
  const minute = twoDigits[Math.floor(rest / 60_000) % 60];
  const second = twoDigits[Math.floor(rest / 1000) % 60];
  return `${writtenDate}${hour}:${minute}:${second}.${threeDigits[rest % 1000]}Z`;
}

let readDate = '1970-01-01T';
let readDateMs = 0;

/**
 * Milliseconds since the epoch; null when it is written otherwise.
 * @param readDay reads a date alone, milliseconds since the epoch; null when there is no such day.
 */
function fromUtcText(text: string, readDay: (date: string) => number | null): number | null {
  if (text.length !== 24 || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return null;
  if (text[19] !== '.' || text[23] !== 'Z') return null;
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const millisecond = digits(text, 20, 23);
  // NaN is not less either.
  if (!(hour < 24 && minute < 60 && second < 60 && millisecond < 1000)) return null;
  if (!text.startsWith(readDate)) {
    const ms = readDay(text.slice(0, 10));
    if (ms === null) return null;
    readDate = text.slice(0, 11);
    readDateMs = ms;
  }
  return readDateMs + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
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
