// Creates and hashes random secrets for sessions and links.

import { createHash, randomBytes } from 'node:crypto';

/** Creates a secret of 256 random bits, as 43 characters that are safe in URLs and cookies. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Returns the hash that is stored for the secret of a session or link: its SHA-256 in lower-case hexadecimal. A salt is
 * not needed, because the secret is random.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex');
}
