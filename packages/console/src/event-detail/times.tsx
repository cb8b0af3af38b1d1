import { formatTime } from '../parts/time.ts';
import { findMember, formatJsonValue } from './json-text.ts';
import { text } from './words.ts';

/**
 * Shows when an event occurred and when it was sent, received and stored. Explains the differences
 * (docs/wire-rules.md#times).
 */
export function EventTimes({ event, zone }: { event: ReadonlyMap<string, string>; zone: string }) {
  const timeOf = (json: string | undefined) => (json?.startsWith('"') ? formatJsonValue(json) : undefined);
  const stored = timeOf(event.get('timestamp'));
  const sent = timeOf(findMember(event.get('properties') ?? '{}', '$sent_at'));
  const received = timeOf(event.get('captured_at'));
  const asSent = timeAsSent({ stored, sent, received });
  const times = [
    [text.byClient, asSent],
    [text.sent, sent],
    [text.received, received],
    [text.happened, stored],
    [text.stored, timeOf(event.get('stored_at'))],
  ] as const;
  return (
    <>
      <dl className="facts">
        {times.map(
          ([name, time]) =>
            time !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="mono">{formatTime(time, zone)}</dd>
              </div>
            ),
        )}
      </dl>
      <p className="detail-note quiet">{explainDifferences({ stored, sent, received })}</p>
    </>
  );
}

interface EventTimes {
  stored: string | undefined;
  sent: string | undefined;
  received: string | undefined;
}

/** Returns how far the client's clock is ahead of the server's clock. The result includes the network delay. */
function clockError({ sent, received }: EventTimes): number | undefined {
  const error = Date.parse(sent ?? '') - Date.parse(received ?? '');
  return Number.isNaN(error) ? undefined : error;
}

/** Returns the event time that the client sent. This is the stored time without the clock correction. */
function timeAsSent(times: EventTimes): string | undefined {
  const error = clockError(times);
  const time = Date.parse(times.stored ?? '') + (error ?? 0);
  return error === undefined || Number.isNaN(time) || isArrival(times) ? undefined : new Date(time).toISOString();
}

const isArrival = ({ stored, received }: EventTimes) => Date.parse(stored ?? '') === Date.parse(received ?? '');

function explainDifferences(times: EventTimes): string {
  if (isArrival(times)) return text.arrival;
  const error = clockError(times);
  if (error === undefined) return text.noSending;
  if (Math.abs(error) < 1000) return text.clockRight;
  return text.clockWrong(lengthOf(Math.abs(error)), error < 0);
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Formats a duration, for example as `2 hours, 5 minutes` or `1.8 seconds`. */
function lengthOf(ms: number): string {
  const format = (value: number, unit: string) =>
    new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 }).format(value);
  if (ms < 60_000) return format(ms / 1000, 'second');
  let left = Math.round(ms / 60_000) * 60_000;
  const parts: string[] = [];
  for (const [unit, length] of units) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) parts.push(format(count, unit));
  }
  return parts.join(', ');
}
