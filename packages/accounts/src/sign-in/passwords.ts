/** Hashes and verifies passwords (docs/api/passwords.md). */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { AppError, limitConcurrency } from '@millrace/runtime';

export interface Passwords {
  /** @throws AppError `rate_limited` before any computation if too many requests are waiting */
  hash(password: string): Promise<string>;
  /**
   * Verifies a password. Takes the same time for an account without a password as for a wrong password.
   * @param stored the stored hash, or null for an account without a password
   * @param isKnown true if the account has signed in from this browser before. These requests run next, and have their
   *   own queue, which no other requests can fill.
   * @returns `outdated` for a correct password whose hash was computed at a different cost and should be replaced
   * @throws AppError `rate_limited` before any computation if too many requests are waiting. This applies to accounts
   *   without a password too.
   */
  compare(password: string, stored: string | null, isKnown?: boolean): Promise<'right' | 'outdated' | 'wrong'>;
}

export interface PasswordOptions {
  /**
   * Cost of a hash, as the binary logarithm of scrypt's N. Each increment doubles the time and memory. A hash at cost
   * 17 takes 128 MiB and about 0.3 s.
   */
  cost?: number;
  /** Maximum number of concurrent hashes. Each uses memory and one of libuv's four threads. */
  atOnce?: number;
  /** Maximum number of waiting requests. When it is reached, new requests are rejected. */
  waiting?: number;
}

const blockSize = 8;
const parallelization = 1;
const saltBytes = 16;
const hashBytes = 32;

export function createPasswords({ cost = 17, atOnce = 2, waiting = 20 }: PasswordOptions = {}): Passwords {
  const inTurn = limitConcurrency(atOnce);
  const forAll = createPlaces(inTurn, atOnce + waiting);
  // Requests from known devices go to the front of the queue. They wait for at most one hash and need no additional
  // memory.
  const forKnown = createPlaces((work) => inTurn(work, true), atOnce + waiting);
  const derive = (password: string, { salt, ln }: Pick<StoredHash, 'salt' | 'ln'>, places = forAll): Promise<Buffer> =>
    places(() => scryptOf(password, salt, ln));

  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return format({ ln: cost, salt, hash: await derive(password, { salt, ln: cost }) });
    },
    async compare(password, stored, isKnown = false) {
      const known = stored === null ? undefined : parse(stored);
      const places = isKnown ? forKnown : forAll;
      const given = await derive(password, known ?? { salt: randomBytes(saltBytes), ln: cost }, places);
      if (known === undefined || !timingSafeEqual(given, known.hash)) return 'wrong';
      return known.ln === cost ? 'right' : 'outdated';
    },
  };
}

/** Limits the number of running and waiting tasks. Rejects tasks above the limit. */
function createPlaces(inTurn: <T>(work: () => Promise<T>) => Promise<T>, places: number) {
  let taken = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (taken >= places) throw tooMany();
    taken += 1;
    try {
      return await inTurn(work);
    } finally {
      taken -= 1;
    }
  };
}

/** Normalizes the password to NFC, because clients can encode the same characters differently. */
function scryptOf(password: string, salt: Buffer, ln: number): Promise<Buffer> {
  const N = 2 ** ln;
  const options = { N, r: blockSize, p: parallelization, maxmem: 256 * N * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

interface StoredHash {
  ln: number;
  salt: Buffer;
  hash: Buffer;
}

function format({ ln, salt, hash }: StoredHash): string {
  const parameters = `ln=${ln},r=${blockSize},p=${parallelization}`;
  return `$scrypt$${parameters}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

function parse(stored: string): StoredHash {
  const [, ln, salt = '', hash = ''] = /^\$scrypt\$ln=(\d+),r=8,p=1\$([\w-]+)\$([\w-]+)$/.exec(stored) ?? [];
  if (ln === undefined) throw new Error('A stored password hash has an unknown format.');
  return { ln: Number(ln), salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

function tooMany(): AppError {
  return new AppError('rate_limited', 'Too many users are signing in right now. Try again in a few seconds.', {
    code: 'throttled',
    retryAfterSeconds: 5,
  });
}
