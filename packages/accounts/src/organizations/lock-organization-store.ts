import type { Transaction } from '@millrace/db';
import { notFound } from '../input/account-errors.ts';
import { isUuid } from '../input/account-input.ts';

export interface LockedOrganization extends Record<string, unknown> {
  id: string;
  name: string;
  available_product_features: unknown;
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
}

/**
 * Holds an organization until the transaction ends. Who belongs to it, who is invited and how many projects it has changes
 * only behind this lock, which is always the first one taken: two owners who demote each other, or two invites of one
 * person, come one after the other. Readers, and writers of other rows that refer to it, do not wait.
 *
 * @throws AppError `not_found`.
 */
export async function lockOrganization(tx: Transaction, id: string): Promise<LockedOrganization> {
  const rows = isUuid(id)
    ? await tx.query<LockedOrganization>(
        `SELECT id, name, available_product_features, is_member_join_email_enabled, enforce_2fa
           FROM organization WHERE id = $1 FOR NO KEY UPDATE`,
        [id],
      )
    : [];
  if (!rows[0]) throw notFound('Organization');
  return rows[0];
}
