import type { ClientEvent } from './capture-schema.ts';
import { parseTimestamp } from './parse-timestamp.ts';

/** Further ahead than this is a wrong clock (strictly more). */
const furthestFutureMs = 82_800_000;
const lastOfYear9999Ms = Date.UTC(10_000, 0, 1) - 1;
/** Year 0 is left out with the negative ones: PostgreSQL does not know it. */
const firstOfYear1Ms = new Date(0).setUTCFullYear(1, 0, 1);

/**
 * When the event happened, milliseconds since the epoch, by the rules of reference/ingest-wire.md section 9.1: the
 * client's clock is corrected by what it says at sending, an `offset` counts back from now and overrides, the far
 * future is now, years that cannot be stored are the epoch. Cases T01-T14.
 *
 * @param nowMs when the request arrived.
 */
export function eventTimeMs(event: ClientEvent, sentAtMs: number | null, nowMs: number): number {
  const timeMs = claimedTimeMs(event, sentAtMs, nowMs);
  if (timeMs > nowMs + furthestFutureMs) return nowMs;
  return timeMs < firstOfYear1Ms || timeMs > lastOfYear9999Ms ? 0 : timeMs;
}

function claimedTimeMs(event: ClientEvent, sentAtMs: number | null, nowMs: number): number {
  if (typeof event.offset === 'number') return nowMs - event.offset;
  if (typeof event.timestamp !== 'string') return nowMs;
  const timestampMs = parseTimestamp(event.timestamp);
  if (timestampMs === null) return nowMs;
  if (sentAtMs === null || event.properties?.$ignore_sent_at === true) return timestampMs;
  return timestampMs - (sentAtMs - nowMs);
}
