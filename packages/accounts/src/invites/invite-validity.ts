import { createHash, randomBytes } from 'node:crypto';

const validityMs = 3 * 24 * 60 * 60 * 1000;

interface Validity {
  created_at: Date;
  /** When the key ends that made the invite; null for never. */
  key_expires_at: Date | null;
}

export function isInviteExpired(invite: Validity, now: Date): boolean {
  return inviteExpiresAt(invite) < now;
}

/** An invite can be accepted for three days (docs/api-rules.md#invites), and no longer than its maker's key works. */
export function inviteExpiresAt({ created_at: createdAt, key_expires_at: keyExpiresAt }: Validity): Date {
  const end = createdAt.getTime() + validityMs;
  return new Date(keyExpiresAt ? Math.min(end, keyExpiresAt.getTime()) : end);
}

/** The secret that is mailed: 256 random bits. Members can see an invite's id, so the id proves nothing. */
export function newInviteToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of the secret. */
export function hashInviteToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
