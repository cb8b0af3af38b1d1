import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as 43 characters that may stand in an address or a cookie. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a session's or a link's secret: its SHA-256 in lower-case hexadecimal, no salt (the secret is random). */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex');
}
