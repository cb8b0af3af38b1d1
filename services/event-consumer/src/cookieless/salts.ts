// Stores the daily salts from which the IDs of cookieless visitors are derived.

import { randomBytes } from 'node:crypto';
import { deleteExpiredSalts, findOrInsertSalt, type Sql } from '@millrace/db/sql';
import { createTimeZone, isTimeZone, type TimeZone } from '@millrace/schedule';
import { LRUCache } from 'lru-cache';

export interface CookielessSalts {
  /** Returns a day's salt, which is the same for all consumers. Rejects if PostgreSQL is unavailable. */
  find(day: LocalDay): Promise<Buffer>;
  /**
   * Clears the cache. Called when stored salts may have been lost, because another consumer may then have created a
   * different salt.
   */
  forgetAll(): void;
}

const saltBytes = 32;
/** The number of cached salts, which exceeds the number of days that can be current at the same time. */
const maxRemembered = 16;
/** A salt whose row was deleted can remain in a process's cache for this many milliseconds. */
const rememberForMs = 3_600_000;
const attempts = 3;

/**
 * Creates the salts in PostgreSQL. The first consumer that needs a day's salt creates it. A salt is deleted when its
 * day has expired.
 */
export function createCookielessSalts(sql: Sql): CookielessSalts {
  const memory = new LRUCache<string, Promise<Buffer>>({ max: maxRemembered, ttl: rememberForMs, ttlAutopurge: true });

  async function findStored(day: LocalDay): Promise<Buffer> {
    await deleteExpiredSalts(sql);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const salt = await findOrInsertSalt(sql, {
        day: day.name,
        salt: randomBytes(saltBytes),
        expiresAtMs: expiryOf(day),
      });
      if (salt !== undefined) return salt;
    }
    throw new Error("Could not read or create today's salt.");
  }

  return {
    find(day) {
      const remembered = memory.get(day.name);
      if (remembered !== undefined) return remembered;
      const found = findStored(day);
      memory.set(day.name, found);
      found.catch(() => memory.delete(day.name));
      return found;
    },
    forgetAll: () => memory.clear(),
  };
}

export interface LocalDay {
  /** The date as `YYYY-MM-DD`. */
  name: string;
  /**
   * The start of the day in milliseconds since the epoch. `wallStartMs` treats the local time as if it were in UTC, and
   * `startMs` is the real time.
   */
  wallStartMs: number;
  startMs: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The largest UTC offsets of time zones, ahead of and behind UTC. */
const furthestAheadMs = 14 * hourMs;
const furthestBehindMs = 12 * hourMs;
/** How long a salt is kept after the end of its day, because events may be sent late and consumers may lag behind. */
const graceMs = 72 * hourMs;
const longestName = 64;
/** Time zones are cached, because creating a formatter takes about 50 µs and clients choose the names. */
const zones = new LRUCache<string, TimeZone>({ max: 500 });

/**
 * Returns the local day that contains a time.
 * @param names a list of IANA time zone names. The first valid one is used, or UTC if none is valid.
 */
export function toLocalDay(timestampMs: number, names: readonly unknown[]): LocalDay {
  const name = names.find((one): one is string => typeof one === 'string' && isZone(one)) ?? 'UTC';
  const zone = zoneOf(name);
  const wallStartMs = Math.floor(zone.toWallTime(timestampMs) / dayMs) * dayMs;
  return { name: new Date(wallStartMs).toISOString().slice(0, 10), wallStartMs, startMs: zone.toInstant(wallStartMs) };
}

/** Returns whether the day is current in some time zone, or ended so recently that its events are still accepted. */
export function isCurrentDay(day: LocalDay, nowMs: number): boolean {
  return day.wallStartMs - furthestAheadMs <= nowMs && nowMs < expiryOf(day);
}

/** Returns the time after which the day's events are no longer accepted. */
function expiryOf({ wallStartMs }: LocalDay): number {
  return wallStartMs + dayMs + furthestBehindMs + graceMs;
}

function isZone(name: string): boolean {
  return name !== '' && name.length <= longestName && (zones.has(name) || isTimeZone(name));
}

function zoneOf(name: string): TimeZone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = createTimeZone(name);
  zones.set(name, zone);
  return zone;
}
