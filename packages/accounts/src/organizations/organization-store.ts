/** Reads and writes organizations, locks them, and counts the emails they send. */

import type { ProductFeature } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { isUuid, notFound } from '../input.ts';

/** Organization settings that administrators can change. */
export interface OrganizationSettings {
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
  members_can_invite: boolean;
  members_can_use_personal_api_keys: boolean;
  allow_publicly_shared_resources: boolean;
  default_anonymize_ips: boolean;
}

export const defaultOrganizationSettings: OrganizationSettings = {
  is_member_join_email_enabled: true,
  enforce_2fa: null,
  members_can_invite: true,
  members_can_use_personal_api_keys: true,
  allow_publicly_shared_resources: true,
  default_anonymize_ips: false,
};
export const settingNames = Object.keys(defaultOrganizationSettings) as (keyof OrganizationSettings)[];

export interface Organization extends OrganizationSettings, Record<string, unknown> {
  id: string;
  name: string;
  slug: string;
  available_product_features: unknown;
  created_at: Date;
}

export interface NewOrganizationRow {
  id: string;
  name: string;
  slug: string;
  features: readonly ProductFeature[];
  settings: OrganizationSettings;
}

/**
 * Inserts an organization.
 * @returns undefined if the slug is taken. Even then, the transaction can continue.
 */
export async function insertOrganization(tx: Transaction, row: NewOrganizationRow): Promise<Organization | undefined> {
  const { id, name, slug, features, settings } = row;
  const rows = await tx.query<Organization>(
    `INSERT INTO organization (id, name, slug, available_product_features, ${settingNames.join(', ')})
     VALUES ($1, $2, $3, $4::jsonb, ${settingNames.map((_, index) => `$${index + 5}`).join(', ')})
     ON CONFLICT DO NOTHING RETURNING *`,
    [id, name, slug, JSON.stringify(features), ...settingNames.map((setting) => settings[setting])],
  );
  return rows[0];
}

export async function findOrganization(sql: Sql, id: string): Promise<Organization | undefined> {
  const rows = await sql.query<Organization>('SELECT * FROM organization WHERE id = $1', [id]);
  return rows[0];
}

/** Lists the organizations of a user, or all organizations (null), oldest first. */
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
  settings: OrganizationSettings & { name: string },
): Promise<Organization> {
  const rows = await tx.query<Organization>(
    `UPDATE organization SET name = $2, updated_at = now(),
            ${settingNames.map((setting, index) => `${setting} = $${index + 3}`).join(', ')}
      WHERE id = $1 RETURNING *`,
    [id, settings.name, ...settingNames.map((setting) => settings[setting])],
  );
  return rows[0] as Organization;
}

/** Deletes an organization and its dependent rows. Its event data is deleted later (`environment_cleanup`). */
export async function deleteOrganization(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM organization WHERE id = $1', [id]);
}

export interface LockedOrganization extends OrganizationSettings, Record<string, unknown> {
  id: string;
  name: string;
  available_product_features: unknown;
}

/**
 * Locks an organization until the transaction ends. Every change to its members, invites or number of projects must
 * take this lock before any other. The lock makes such changes sequential, for example when two owners demote each
 * other, or when two requests invite the same person. The lock does not block readers, or writers of other rows that
 * refer to the organization.
 * @throws AppError `not_found`
 */
export async function lockOrganization(tx: Transaction, id: string): Promise<LockedOrganization> {
  const rows = isUuid(id)
    ? await tx.query<LockedOrganization>(
        `SELECT id, name, available_product_features, ${settingNames.join(', ')}
           FROM organization WHERE id = $1 FOR NO KEY UPDATE`,
        [id],
      )
    : [];
  if (!rows[0]) throw notFound('Organization');
  return rows[0];
}

/**
 * Reserves emails from the organization's limit for the current clock hour. All senders share this limit.
 * @returns how many of the requested emails can be sent
 */
export async function reserveEmailQuota(
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
