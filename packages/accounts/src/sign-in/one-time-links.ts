/** Links that work once and not for long: to sign in, to become the first owner, to set a new password. */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { findLink, insertLink, type LinkKind, type LinkRow, takeLink } from './sign-in-store.ts';

const minutesOf: Record<LinkKind, number> = { sign_in: 60, first_owner: 24 * 60, reset_password: 24 * 60 };

/**
 * Makes a link in place of an earlier one of its kind for the same user.
 * @returns also its secret, which is stored nowhere.
 */
export async function createOneTimeLink(
  tx: Transaction,
  link: { kind: 'sign_in' | 'reset_password'; userId: number } | { kind: 'first_owner'; userId: null },
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = newSecret();
  const row = { tokenHash: hashSecret(secret), ...link };
  return { secret, expiresAt: await insertLink(tx, row, minutesOf[link.kind]) };
}

/** Looks at a link, which uses nothing up. */
export async function findOneTimeLink(sql: Sql, secret: string): Promise<LinkRow | undefined> {
  return findLink(sql, hashSecret(secret));
}

/** Uses a link up, in the transaction of what it is for: fails that, the link is still good. */
export async function takeOneTimeLink(tx: Transaction, secret: string): Promise<LinkRow | undefined> {
  return takeLink(tx, hashSecret(secret));
}
