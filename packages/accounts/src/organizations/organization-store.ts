/** The rows of organizations, the lock on one, and the mails it may send. */

import type { ProductFeature } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { isUuid, notFound } from '../input.ts';

export interface Organization extends Record<string, unknown> {
  id: string;
  name: string;
  slug: string;
  available_product_features: unknown;
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
  created_at: Date;
}

export interface NewOrganizationRow {
  id: string;
  name: string;
  slug: string;
  features: readonly ProductFeature[];
  isMemberJoinEmailEnabled: boolean;
  enforce2fa: boolean | null;
}

/** @returns undefined when the slug is taken, which does not end the transaction. */
export async function insertOrganization(tx: Transaction, row: NewOrganizationRow): Promise<Organization | undefined> {
  const rows = await tx.query<Organization>(
    `INSERT INTO organization
       (id, name, slug, available_product_features, is_member_join_email_enabled, enforce_2fa)
     VALUES ($1, $2, $3, $4::jsonb, $5, $6) ON CONFLICT DO NOTHING RETURNING *`,
    [row.id, row.name, row.slug, JSON.stringify(row.features), row.isMemberJoinEmailEnabled, row.enforce2fa],
  );
  return rows[0];
}

export async function findOrganization(sql: Sql, id: string): Promise<Organization | undefined> {
  const rows = await sql.query<Organization>('SELECT * FROM organization WHERE id = $1', [id]);
  return rows[0];
}

/** Oldest first; those a user is a member of, or with null all of them. */
export async function selectOrganizations(sql: Sql, userId: number | null): Promise<Organization[]> {
  return sql.query<Organization>(
    `SELECT * FROM organization
      WHERE $1::int IS NULL OR id IN (SELECT organization_id FROM membership WHERE user_id = $1)
      ORDER BY created_at, id`,
    [userId],
  );
}

export async function updateFeatures(
  tx: Transaction,
  id: string,
  features: readonly ProductFeature[],
): Promise<Organization | undefined> {
  const rows = await tx.query<Organization>(
    'UPDATE organization SET available_product_features = $2::jsonb, updated_at = now() WHERE id = $1 RETURNING *',
    [id, JSON.stringify(features)],
  );
  return rows[0];
}

export async function updateOrganization(
  tx: Transaction,
  id: string,
  settings: Pick<Organization, 'name' | 'is_member_join_email_enabled' | 'enforce_2fa'>,
): Promise<Organization> {
  const rows = await tx.query<Organization>(
    `UPDATE organization SET name = $2, is_member_join_email_enabled = $3, enforce_2fa = $4, updated_at = now()
      WHERE id = $1 RETURNING *`,
    [id, settings.name, settings.is_member_join_email_enabled, settings.enforce_2fa],
  );
  return rows[0] as Organization;
}

/** Removes an organization and all that hangs on it; ingested data goes later (`environment_cleanup`). */
export async function deleteOrganization(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM organization WHERE id = $1', [id]);
}

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

/**
 * Takes mails out of what an organization may send in this hour of the clock, whoever sends them.
 * @returns how many of those wanted may be sent.
 */
export async function takeMails(
  sql: Sql,
  { organizationId, wanted, mailsPerHour }: { organizationId: string; wanted: number; mailsPerHour: number },
): Promise<number> {
  const rows = await sql.query<{ before: number }>(
    `INSERT INTO organization_mail_hour AS taken (organization_id, hour, mails)
     VALUES ($1, date_trunc('hour', now()), $2)
     ON CONFLICT (organization_id) DO UPDATE
        SET hour = excluded.hour,
            -- What was refused counts as well: nothing more goes out in this hour.
            mails = least(CASE WHEN taken.hour = excluded.hour THEN taken.mails ELSE 0 END + $2, 1000000000)
     RETURNING mails - $2 AS before`,
    [organizationId, wanted],
  );
  return Math.min(wanted, Math.max(0, mailsPerHour - (rows[0]?.before ?? 0)));
}
