/**
 * Manages short-lived links that can be used once: to sign in, to become the first owner, and to set a new password.
 */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { consumeLink, findLink, insertLink, type LinkKind, type LinkRow } from './sign-in-store.ts';

const minutesOf: Record<LinkKind, number> = { sign_in: 60, first_owner: 24 * 60, reset_password: 24 * 60 };

/**
 * Creates a link, and replaces the user's existing link of the same kind.
 * @returns the link and its secret. Only the secret's hash is stored.
 */
export async function createOneTimeLink(
  tx: Transaction,
  link: { kind: 'sign_in' | 'reset_password'; userId: number } | { kind: 'first_owner'; userId: null },
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = newSecret();
  const row = { tokenHash: hashSecret(secret), ...link };
  return { secret, expiresAt: await insertLink(tx, row, minutesOf[link.kind]) };
}

/** Finds a link without marking it as used. */
export async function findOneTimeLink(sql: Sql, secret: string): Promise<LinkRow | undefined> {
  return findLink(sql, hashSecret(secret));
}

/**
 * Marks a link as used, in the same transaction as the action that the link allows. If the action fails, the link stays
 * valid.
 */
export async function consumeOneTimeLink(tx: Transaction, secret: string): Promise<LinkRow | undefined> {
  return consumeLink(tx, hashSecret(secret));
}
