import { createHash, randomBytes } from 'node:crypto';

const validityMs = 3 * 24 * 60 * 60 * 1000;

/** An invite can be accepted for three days (reference/management-api.md 5.1). */
export function isInviteExpired(invite: { created_at: Date }, now: Date): boolean {
  return invite.created_at.getTime() < now.getTime() - validityMs;
}

export function inviteExpiresAt(invite: { created_at: Date }): Date {
  return new Date(invite.created_at.getTime() + validityMs);
}

/** The secret that is mailed: 256 random bits. Members can see an invite's id, so the id proves nothing. */
export function newInviteToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of the secret. */
export function hashInviteToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
