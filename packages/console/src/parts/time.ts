/** Times as pages show them, in the project's zone. */
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
const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;

/** `15:04:07.812` */
export const formatClock = (iso: string, zone: string) => format(iso, zone, clock);
/** `24 Nov 2026, 15:04:07.812` */
export const formatTime = (iso: string, zone: string) => format(iso, zone, { ...day, ...clock });
/** `24 Nov 2026` */
export const formatDay = (iso: string, zone: string) => format(iso, zone, day);

/** What is no time is shown as it is. */
function format(iso: string, zone: string, options: Intl.DateTimeFormatOptions): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : formatOf(zone, options).format(time);
}
