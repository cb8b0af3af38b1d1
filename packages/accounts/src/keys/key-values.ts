/** The values of keys, and what is stored and shown of them. */

import { createHash, randomBytes } from 'node:crypto';

/** A new project API key: `phc_` and 43 random characters. Public by design; SDKs carry it in browsers. */
export function newProjectToken(): string {
  return `phc_${randomBase62(32)}`;
}

/** A new personal API key: `phx_` and 48 random characters (docs/api/personal-api-keys.md). A secret. */
export function newPersonalApiKeyValue(): string {
  return `phx_${randomBase62(35)}`;
}

/** A new secret key of an environment: `phs_` and 48 random characters. Servers read flag definitions with it. */
export function newProjectSecretKeyValue(): string {
  return `phs_${randomBase62(35)}`;
}

/** What is stored and looked up instead of a personal or a secret key: its SHA-256 in lower-case hexadecimal, no salt (the key is random). */
export function hashPersonalApiKey(value: string): string {
  return createHash('sha256').update(value, 'utf8').digest('hex');
}

/** What a person may see of a key later: `phx_...abcd`. */
export function maskPersonalApiKey(value: string): string {
  return `${value.slice(0, 4)}...${value.slice(-4)}`;
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Random bytes written in base 62 (digits, lower, upper), always as long as the largest value of that many bytes. */
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
