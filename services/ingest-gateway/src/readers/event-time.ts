import type { TimeFinding } from './drops.ts';
import { parseTimestamp, parseZonedTimestamp } from './timestamps.ts';
import type { ClientEvent } from './validate.ts';

/** Further ahead than this is a wrong clock (strictly more). */
const furthestFutureMs = 82_800_000;
const lastOfYear9999Ms = Date.UTC(10_000, 0, 1) - 1;
/** Year 0 is left out with the negative ones: PostgreSQL does not know it. */
const firstOfYear1Ms = new Date(0).setUTCFullYear(1, 0, 1);

interface EventTime {
  /** Milliseconds since the epoch. */
  ms: number;
  /** What the project should be told of it (docs/wire-rules.md#times); null when the time is as sent. */
  finding: TimeFinding | null;
}

/**
 * When the event happened, milliseconds since the epoch, by the rules of docs/wire-rules.md#times: the
 * client's clock is corrected by what it says at sending, an `offset` counts back from now and overrides, the far
 * future is now, years that cannot be stored are the epoch. Cases T01-T14.
 *
 * @param nowMs when the request arrived.
 */
export function readEventTime(event: ClientEvent, sentAtMs: number | null, nowMs: number): EventTime {
  const ms = claimedTimeMs(event, sentAtMs, nowMs);
  if (ms === null) return { ms: nowMs, finding: 'ignored_invalid_timestamp' };
  if (ms > nowMs + furthestFutureMs) return { ms: nowMs, finding: 'event_timestamp_in_future' };
  if (ms < firstOfYear1Ms || ms > lastOfYear9999Ms) return { ms: 0, finding: 'ignored_invalid_timestamp' };
  return { ms, finding: null };
}

/** The timestamp as text, null when there is none; an empty one counts as none. A number is Unix seconds or milliseconds. */
export function claimedTime({ timestamp }: ClientEvent): string | null {
  if (typeof timestamp === 'number') return String(timestamp);
  return typeof timestamp !== 'string' || timestamp.trim() === '' ? null : timestamp;
}

/** Null when there is a timestamp that cannot be read. */
function claimedTimeMs(event: ClientEvent, sentAtMs: number | null, nowMs: number): number | null {
  if (typeof event.offset === 'number') return nowMs - event.offset;
  const timestamp = claimedTime(event);
  if (timestamp === null) return nowMs;
  const timestampMs = parseTimestamp(timestamp);
  if (timestampMs === null) return null;
  if (sentAtMs === null || event.properties?.$ignore_sent_at === true) return timestampMs;
  return timestampMs - (sentAtMs - nowMs);
}

/** Smaller numbers are seconds or nonsense; PostHog ignores years up to 2020 (case T12). */
const oldestQueryMs = Date.UTC(2021, 0, 1);
/** Years that can be written with four digits and stored. */
const newestMs = Date.UTC(9999, 11, 31);
const oldestMs = new Date(0).setUTCFullYear(1, 0, 2);

/**
 * When the client sent the request by its own clock: the batch's `sent_at` (date-time with zone), else query `_`
 * (milliseconds), else null. What cannot be read is ignored (docs/wire-rules.md#times).
 */
export function readSentAt(inBatch: unknown, inQuery: string | null): number | null {
  const fromBatch = readInBatch(inBatch);
  if (fromBatch !== null) return fromBatch;
  if (inQuery === null || !/^\d{1,15}$/.test(inQuery)) return null;
  const ms = Number(inQuery);
  return ms >= oldestQueryMs && ms <= newestMs ? ms : null;
}

/**
 * What a batch says about the time of its sending, if it cannot be read; undefined when it can, or when nothing is said.
 * The project is told.
 */
export function unreadableSentAt(inBatch: unknown): string | undefined {
  if (inBatch === undefined || inBatch === null || inBatch === '' || readInBatch(inBatch) !== null) return undefined;
  return typeof inBatch === 'string' ? inBatch : `a value of type ${typeof inBatch}`;
}

function readInBatch(sentAt: unknown): number | null {
  const ms = typeof sentAt === 'string' ? parseZonedTimestamp(sentAt.trim()) : null;
  return ms !== null && ms >= oldestMs && ms <= newestMs ? ms : null;
}
