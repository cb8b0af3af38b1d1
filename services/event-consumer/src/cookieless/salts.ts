import { randomBytes } from 'node:crypto';
import { deleteExpiredSalts, keepSalt, type Sql } from '@millrace/db/sql';
import { isTimeZone, type TimeZone, timeZone } from '@millrace/schedule';
import { LRUCache } from 'lru-cache';

export interface CookielessSalts {
  /** The same for all consumers. Rejects when PostgreSQL cannot be asked. */
  of(day: LocalDay): Promise<Buffer>;
  /** What is remembered may not be stored any more: another consumer would make another salt. */
  forgetAll(): void;
}

const saltBytes = 32;
/** More days than are current at a time. */
const maxRemembered = 16;
/** No process remembers a salt for longer than this after its row was deleted. */
const rememberForMs = 3_600_000;
const attempts = 3;

/** Salts are made by whoever needs one first, kept in PostgreSQL, and deleted there when their day has expired. */
export function createCookielessSalts(sql: Sql): CookielessSalts {
  const memory = new LRUCache<string, Promise<Buffer>>({ max: maxRemembered, ttl: rememberForMs, ttlAutopurge: true });

  async function find(day: LocalDay): Promise<Buffer> {
    await deleteExpiredSalts(sql);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const salt = await keepSalt(sql, {
        day: day.name,
        salt: randomBytes(saltBytes),
        expiresAtMs: expiryOf(day),
      });
      if (salt !== undefined) return salt;
    }
    throw new Error("Could not read or create today's salt.");
  }

  return {
    of(day) {
      const remembered = memory.get(day.name);
      if (remembered !== undefined) return remembered;
      const found = find(day);
      memory.set(day.name, found);
      found.catch(() => memory.delete(day.name));
      return found;
    },
    forgetAll: () => memory.clear(),
  };
}

/** A calendar day in some time zone. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  name: string;
  /** Its midnight: read as if it were UTC, and the real moment. Milliseconds since the epoch. */
  wallStartMs: number;
  startMs: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The time zones furthest ahead of UTC and furthest behind it. */
const furthestAheadMs = 14 * hourMs;
const furthestBehindMs = 12 * hourMs;
/** Clients send late and consumers fall behind, so the salt of a day is kept for this time after the day has ended. */
const graceMs = 72 * hourMs;
const longestName = 64;
/** Making a formatter takes about 50 µs, and clients choose the names of the zones. */
const zones = new LRUCache<string, TimeZone>({ max: 500 });

/** @param names IANA names of time zones, the first that is one counts; UTC when none is. */
export function localDay(timestampMs: number, names: readonly unknown[]): LocalDay {
  const name = names.find((one): one is string => typeof one === 'string' && isZone(one)) ?? 'UTC';
  const zone = zoneOf(name);
  const wallStartMs = Math.floor(zone.toWallTime(timestampMs) / dayMs) * dayMs;
  return { name: new Date(wallStartMs).toISOString().slice(0, 10), wallStartMs, startMs: zone.toInstant(wallStartMs) };
}

/** True while it is that day in some time zone, and for the grace time after it. */
export function isCurrent(day: LocalDay, nowMs: number): boolean {
  return day.wallStartMs - furthestAheadMs <= nowMs && nowMs < expiryOf(day);
}

/** After this time no event of the day is accepted any more. */
function expiryOf({ wallStartMs }: LocalDay): number {
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
