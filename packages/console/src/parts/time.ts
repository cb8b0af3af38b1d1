// Formats times in a time zone.

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
    formats.set(key, format);
  }
  return format;
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } as const;
const minute = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;

export const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Formats a time as `15:04:07.812`. */
export const formatClock = (iso: string, zone: string) => format(iso, zone, clock);
/** Formats a time as `24 Nov 2026, 15:04:07.812`. */
export const formatTime = (iso: string, zone: string) => format(iso, zone, { ...day, ...clock });
/** Formats a time as `24 Nov 2026, 15:04`. */
export const formatMinute = (iso: string, zone: string) => format(iso, zone, minute);
/** Formats a time as `24 Nov 2026`. */
export const formatDay = (iso: string, zone: string) => format(iso, zone, day);

/** Formats a time. Returns an invalid time unchanged. */
function format(iso: string, zone: string, options: Intl.DateTimeFormatOptions): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : formatOf(zone, options).format(time);
}

/** Formats a time range as `24 Nov 2026, 15:00–16:00`. */
export function formatBetween(from: string, to: string, zone: string): string {
  const [start, end] = [new Date(from), new Date(to)];
  if (Number.isNaN(start.getTime()) || Number.isNaN(end.getTime())) return `${from} – ${to}`;
  return formatOf(zone, minute).formatRange(start, end);
}

/** Converts a point in time to a local time such as `2026-11-24T10:15:00`. */
export function toLocalTime(moment: Date, zone: string): string {
  const options = { hourCycle: 'h23', timeZone: zone } as const;
  const format = new Intl.DateTimeFormat('en', {
    ...options,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  const { year = '', month, day, hour, minute, second } = parts;
  return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`;
}

/**
 * Converts a local time to a point in time. If the clocks are set back and the local time occurs twice, returns either
 * of the two. If the clocks are set forward and the local time does not occur, returns a nearby point in time.
 */
export function fromLocalTime(local: string, zone: string): string {
  const localMs = Date.parse(`${local}Z`);
  if (Number.isNaN(localMs)) return '';
  let moment = localMs;
  for (let step = 0; step < 3; step += 1) moment += localMs - Date.parse(`${toLocalTime(new Date(moment), zone)}Z`);
  return new Date(moment).toISOString();
}
