/** What is stored of passwords, and how one is compared with it (docs/api/passwords.md). */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { AppError, limitConcurrency } from '@millrace/runtime';

export interface Passwords {
  /** @throws AppError `rate_limited`, before anything is computed, when too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Takes as long for an account without a password as for one with another.
   *
   * @param stored null where there is none.
   * @param isKnown it comes from a browser in which the account has signed in before: that has places of its own, which nobody
   *   else can fill, and the next turn.
   * @returns with `outdated`, right, and to be stored anew: it was made at another cost.
   * @throws AppError `rate_limited`, before anything is computed and whatever is stored, when too many wait.
   */
  compare(password: string, stored: string | null, isKnown?: boolean): Promise<'right' | 'outdated' | 'wrong'>;
}

export interface PasswordOptions {
  /** Binary logarithm of scrypt's N. Each step up doubles time and memory; 17 takes 128 MiB and about 0.3 s. */
  cost?: number;
  /** Hashes computed at once, each with its memory and a thread of libuv's four. */
  atOnce?: number;
  /** Those that wait for their turn; who comes then is told to come again. */
  waiting?: number;
}

const blockSize = 8;
const parallelization = 1;
const saltBytes = 16;
const hashBytes = 32;

export function createPasswords({ cost = 17, atOnce = 2, waiting = 20 }: PasswordOptions = {}): Passwords {
  const inTurn = limitConcurrency(atOnce);
  const forAll = createPlaces(inTurn, atOnce + waiting);
  // Theirs is the next turn, so that they wait for one hash at most, and no more memory is taken.
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

/** Who comes when all places are taken is told to come again. */
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

/** Written in two ways, one text is one password (NFC). */
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
