import type { TimeZone } from '@millrace/schedule';

const relative = /^-?(\d{1,4})([hdwmy])$/;
const hourMs = 3_600_000;

/** `7d`, `-3m`: a span back from now, whatever the sign. Hours are fixed, the others steps on the project's clocks. */
export function parseRelativeDate(text: string, zone: TimeZone): ((now: number) => number) | null {
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

/** One step at a time: a day that a month lacks becomes its last, and stays so. */
function monthsBefore(wall: number, steps: number, monthsEach: number): number {
  const date = new Date(wall);
  let left = steps;
  while (left > 0) {
    const day = date.getUTCDate();
    // Every month has the first 28 days: nothing is cut any more, and one step does.
    const now = day <= 28 ? left : 1;
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() - now * monthsEach);
    date.setUTCDate(Math.min(day, daysInMonth(date)));
    left -= now;
  }
  return date.getTime();
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}
