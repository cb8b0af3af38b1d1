import { isTimeZone, type TimeZone, timeZone } from '@millrace/schedule';
import { LRUCache } from 'lru-cache';

/** A calendar day by the clocks of some place. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  name: string;
  /** Its midnight as if the clocks showed UTC, and as it was. Milliseconds since the epoch. */
  wallStartMs: number;
  startMs: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Some place's clocks are so far ahead of UTC, and others so far behind. */
const furthestAheadMs = 14 * hourMs;
const furthestBehindMs = 12 * hourMs;
/** Clients send later, and consumers fall behind; so long after its day an event still finds the day's salt. */
const graceMs = 72 * hourMs;
const longestName = 64;
/** A formatter costs some 50 µs to make; clients choose the names. */
const zones = new LRUCache<string, TimeZone>({ max: 500 });

/** @param names IANA names of time zones, the first that is one counts; UTC when none is. */
export function localDay(timestampMs: number, names: readonly unknown[]): LocalDay {
  const name = names.find((one): one is string => typeof one === 'string' && isZone(one)) ?? 'UTC';
  const zone = zoneOf(name);
  const wallStartMs = Math.floor(zone.toWallTime(timestampMs) / dayMs) * dayMs;
  return { name: new Date(wallStartMs).toISOString().slice(0, 10), wallStartMs, startMs: zone.toInstant(wallStartMs) };
}

/** Whether it is that day somewhere, or was not long ago. */
export function isCurrent(day: LocalDay, nowMs: number): boolean {
  return day.wallStartMs - furthestAheadMs <= nowMs && nowMs < expiryOf(day);
}

/** From when on nothing of the day is taken any more. */
export function expiryOf({ wallStartMs }: LocalDay): number {
  return wallStartMs + dayMs + furthestBehindMs + graceMs;
}

function isZone(name: string): boolean {
  return name !== '' && name.length <= longestName && (zones.has(name) || isTimeZone(name));
}

function zoneOf(name: string): TimeZone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = timeZone(name);
  zones.set(name, zone);
  return zone;
}
