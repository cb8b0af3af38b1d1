// Filters that compare dates and times.

import { createTimeZone, type TimeZone } from '@millrace/schedule';
import { countComparisonSteps, type PropertyValue, type ValueTest } from './value-operators.ts';

type Comparison = (value: number, expected: number) => boolean;

/**
 * Prepares a date comparison. Returns null for a filter value that is not a date. Relative dates are computed at each
 * evaluation.
 */
export function createDateTest(expected: unknown, zone: TimeZone, holds: Comparison): ValueTest | null {
  if (typeof expected !== 'string') return null;
  const fixed = parseDate(expected, zone);
  const bound = parseRelativeDate(expected, zone) ?? (fixed === null ? null : () => fixed);
  if (bound === null) return null;
  return {
    matches(value, now) {
      const moment = momentOf(value, zone);
      return moment !== null && holds(moment, bound(now));
    },
    stepsFor: countComparisonSteps,
  };
}

/** Returns whether a filter's value is an absolute or relative date. Used to validate flags and cohorts. */
export function isFilterDate(value: unknown): boolean {
  return createDateTest(value, createTimeZone('UTC'), () => true) !== null;
}

/**
 * Converts a property to milliseconds since the epoch. Numbers and numeric strings (even "2024") are seconds since the
 * epoch.
 */
function momentOf({ value, number }: PropertyValue, zone: TimeZone): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  if (number !== null) return number * 1000;
  return typeof value === 'string' ? parseDate(value, zone) : null;
}

const isoDate = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const isoDateTime =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|z| ?UTC|[+-]\d{2}:\d{2})?$/;
const rfc2822 =
  /^(?:[A-Z][a-z]{2}, ?)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? (GMT|UTC|[+-]\d{4})$/;
const epoch = /^(?:\d{10}|\d{13})$/;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Parses a date to milliseconds since the epoch, or returns null if the string is not a date. Dates and times without
 * an offset are in the project time zone. A date without a time means midnight. A local time that a clock change skips
 * is invalid.
 */
function parseDate(text: string, zone: TimeZone): number | null {
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

/**
 * Converts a local date and time to an instant. Returns null for dates and times that do not exist, such as 31 February
 * or 24:00.
 */
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

const relative = /^-?(\d{1,4})([hdwmy])$/;
const hourMs = 3_600_000;

/**
 * Parses a relative date such as `7d` or `-3m`, which is always in the past, with or without the sign. Hours have a
 * fixed length, and other units are calendar units in the project time zone.
 */
function parseRelativeDate(text: string, zone: TimeZone): ((now: number) => number) | null {
  const [, digits, unit = ''] = relative.exec(text) ?? [];
  if (digits === undefined) return null;
  const count = Number(digits);
  if (unit === 'h') return (now) => now - count * hourMs;
  const move = stepBack(unit, count);
  return (now) => zone.toInstant(move(zone.toWallTime(now)));
}

function stepBack(unit: string, count: number): (wall: number) => number {
  if (unit === 'd') return (wall) => wall - count * 24 * hourMs;
  if (unit === 'w') return (wall) => wall - count * 7 * 24 * hourMs;
  return (wall) => monthsBefore(wall, count, unit === 'm' ? 1 : 12);
}

/**
 * Subtracts months one step at a time. If a month does not have the day, its last day is used, and all subsequent steps
 * start from that day.
 */
function monthsBefore(wall: number, steps: number, monthsEach: number): number {
  const date = new Date(wall);
  let remaining = steps;
  while (remaining > 0) {
    const day = date.getUTCDate();
    // Every month has a 28th day, so all remaining months can be subtracted in a single step.
    const now = day <= 28 ? remaining : 1;
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() - now * monthsEach);
    date.setUTCDate(Math.min(day, daysInMonth(date)));
    remaining -= now;
  }
  return date.getTime();
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}
