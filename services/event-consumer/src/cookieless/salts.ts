import { randomBytes } from 'node:crypto';
import { deleteExpiredSalts, keepSalt, type Sql } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';
import { expiryOf, type LocalDay } from './local-day.ts';

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
    throw new Error('The salt of a day was neither there nor could be made.');
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
