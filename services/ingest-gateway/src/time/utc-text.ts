/**
 * Points in time as nearly all SDKs write them and as records hold them: `2026-11-21T12:34:56.789Z`. The last date is
 * remembered, as most times of a moment are of one day: the built-in functions take four times as long, and a single
 * event needs three such times.
 */

const dayMs = 86_400_000;
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
export function fromUtcText(text: string, readDay: (date: string) => number | null): number | null {
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
