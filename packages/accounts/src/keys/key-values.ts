/** Creates key values, and hashes and masks them. */

import { createHash, randomBytes } from 'node:crypto';

/**
 * Creates a project API key: `phc_` and 43 random characters. This key is public, because SDKs in browsers contain it.
 */
export function newProjectToken(): string {
  return `phc_${randomBase62(32)}`;
}

/** Creates a personal API key: `phx_` and 48 random characters (docs/api/personal-api-keys.md). The key is secret. */
export function newPersonalApiKeyValue(): string {
  return `phx_${randomBase62(35)}`;
}

/**
 * Creates a secret key of an environment: `phs_` and 48 random characters. Servers use the key to read flag
 * definitions.
 */
export function newProjectSecretKeyValue(): string {
  return `phs_${randomBase62(35)}`;
}

/**
 * Returns the hash that is stored for a personal or secret key: its SHA-256 in lower-case hexadecimal. A salt is not
 * needed, because the key is random.
 */
export function hashPersonalApiKey(value: string): string {
  return createHash('sha256').update(value, 'utf8').digest('hex');
}

/** Masks a key for display: `phx_...abcd`. */
export function maskPersonalApiKey(value: string): string {
  return `${value.slice(0, 4)}...${value.slice(-4)}`;
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * Encodes random bytes in base 62 (digits, lower case, upper case). The result always has the same length for the same
 * number of bytes.
 */
export function randomBase62(byteCount: number): string {
  const length = Math.ceil((byteCount * 8) / Math.log2(alphabet.length));
  let rest = BigInt(`0x${randomBytes(byteCount).toString('hex')}`);
  let text = '';
  for (let position = 0; position < length; position += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
