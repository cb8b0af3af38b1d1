// Encrypts users' secrets before they are stored, with keys that operators can rotate.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { ConfigError } from './config.ts';
import { secretSetting } from './secret-setting.ts';

/** The setting for services that store or use users' secrets: `SECRETS_KEY` or `SECRETS_KEY_FILE`. */
export const secretsKeyConfigFields = secretSetting(
  'secretsKey',
  Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9+/_-]{43}=?(\\s*,\\s*[A-Za-z0-9+/_-]{43}=?)*$',
      description:
        'key that encrypts batch export secrets, authenticator app secrets, OpenID provider client secrets and encrypted feature flag payloads: 32 bytes in base64 (`openssl rand -base64 32`). If you set several keys, separated by commas, the first one encrypts and all of them can decrypt',
    }),
  ),
  'again before it encrypts a secret, and when a stored secret requires a key that is not loaded',
);

/** An encrypted secret as it is stored in the database. The string includes the ID of its key. */
export interface SealedSecret {
  sealed: string;
}

/**
 * Encrypts secrets with AES-256-GCM before they are stored. Only services have the key, so a copy of the database does
 * not reveal the secrets.
 */
export interface SecretBox {
  /** The prefix of every secret that is encrypted with the newest key, or null if no key is configured. */
  newestPrefix: string | null;
  keyIds: readonly string[];
  /**
   * Fails at startup if a key is missing. Otherwise, the service would fail later for each secret.
   * @param used the IDs of all keys with which stored secrets are encrypted
   * @throws ConfigError that names the missing keys
   */
  requireKeys(used: readonly string[]): void;
  /**
   * Encrypts a secret.
   * @param context a string that identifies where the secret is stored, for example the ID of its row. The secret can
   * be decrypted only with the same context.
   * @throws Error if no key is configured
   */
  seal(secret: Record<string, unknown>, context: string): SealedSecret;
  /**
   * Decrypts a secret.
   * @param stored the result of `seal`. An object that was never encrypted is returned unchanged.
   * @throws SecretBoxError if no configured key can decrypt the secret
   */
  open(stored: Record<string, unknown>, context: string): Record<string, unknown>;
}

/**
 * Thrown if no configured key can decrypt a secret, or if the secret belongs to another context. The message does not
 * contain the secret.
 */
export class SecretBoxError extends Error {}

const version = 'v1';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a secret box for stored secrets.
 * @param setting in the format of `secretsKeyConfigFields`, or a function that returns its current value. If undefined,
 *   nothing can be encrypted or decrypted.
 */
export function createSecretBox(setting: string | (() => string) | undefined): SecretBox {
  const current = keyRing(typeof setting === 'function' ? setting : () => setting ?? '');
  return {
    get newestPrefix() {
      const { newest } = current();
      return newest ? `${version}:${newest.id}:` : null;
    },
    get keyIds() {
      return [...current().byId.keys()];
    },
    requireKeys(used) {
      const { byId } = current();
      const missing = used.filter((id) => !byId.has(id));
      if (missing.length === 0) return;
      const names = missing.join(', ');
      throw new ConfigError([`SECRETS_KEY does not contain the key ${names}, which encrypts secrets in the database`]);
    },
    seal(secret, context) {
      const { newest } = current();
      if (!newest) throw new Error('SECRETS_KEY is not set, so secrets cannot be encrypted.');
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', newest.key, iv).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(JSON.stringify(secret), 'utf8'), cipher.final()]);
      const bytes = Buffer.concat([iv, cipher.getAuthTag(), text]);
      return { sealed: `${version}:${newest.id}:${bytes.toString('base64url')}` };
    },
    open(stored, context) {
      if (typeof stored.sealed !== 'string') return stored;
      const [found, keyId = '', text = ''] = stored.sealed.split(':');
      const key = current(keyId).byId.get(keyId);
      if (found !== version || !key) throw new SecretBoxError(`SECRETS_KEY does not contain the key ${keyId}.`);
      return JSON.parse(decrypt(key, Buffer.from(text, 'base64url'), context)) as Record<string, unknown>;
    },
  };
}

interface Keys {
  newest: { id: string; key: Buffer } | undefined;
  byId: ReadonlyMap<string, Buffer>;
}

/** Returns a getter for the current keys. The getter does not read the setting if the needed key is already loaded. */
function keyRing(setting: () => string): (needed?: string) => Keys {
  let text: string | undefined;
  let keys: Keys = { newest: undefined, byId: new Map() };
  return (needed) => {
    if (needed !== undefined && keys.byId.has(needed)) return keys;
    const now = setting();
    // If the key list is invalid, for example while an operator is editing it, keep the previous keys and log a
    // warning.
    if (now === text) return keys;
    text = now;
    const read = readKeys(now);
    if (read === null) process.emitWarning('SECRETS_KEY is not a valid key list; keeping the previous keys.');
    else keys = read;
    return keys;
  };
}

function readKeys(text: string): Keys | null {
  const all = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => Buffer.from(part.trim(), 'base64'))
    .map((key) => ({ id: keyIdOf(key), key }));
  if (all.some(({ key }) => key.length !== keyBytes)) return null;
  return { newest: all[0], byId: new Map(all.map(({ id, key }) => [id, key])) };
}

/** Derives a key's ID without revealing the key, so that operators do not have to number their keys. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('millrace secrets key\n').update(key).digest('hex').slice(0, 12);
}

function decrypt(key: Buffer, bytes: Buffer, context: string): string {
  const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)];
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(context))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SecretBoxError('A stored secret was modified, or belongs to a different record.', { cause });
  }
}
