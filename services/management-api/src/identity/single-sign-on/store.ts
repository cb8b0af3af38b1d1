// SQL that stores and lists recent sign-in attempts through a domain's provider.

import type { Columns, Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';

export type ProviderAttempt = Columns<
  'provider_try',
  'id' | 'provider' | 'is_test' | 'reason' | 'detail' | 'email' | 'attributes' | 'created_at'
>;

const maxAttempts = 20;

/** Stores an attempt, and deletes the oldest attempts above the limit. */
export async function recordAttempt(
  sql: Sql,
  row: Omit<ProviderAttempt, 'id' | 'created_at'> & { domain_id: string },
): Promise<void> {
  await sql.query(
    `INSERT INTO provider_try (id, domain_id, provider, is_test, reason, detail, email, attributes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      uuidv7(),
      row.domain_id,
      row.provider,
      row.is_test,
      row.reason,
      row.detail,
      row.email,
      row.attributes === null ? null : JSON.stringify(row.attributes),
    ],
  );
  await sql.query(
    `DELETE FROM provider_try WHERE domain_id = $1
       AND id NOT IN (SELECT id FROM provider_try WHERE domain_id = $1 ORDER BY created_at DESC, id DESC LIMIT ${maxAttempts})`,
    [row.domain_id],
  );
}

export async function listAttempts(sql: Sql, domainId: string): Promise<ProviderAttempt[]> {
  return sql.query<ProviderAttempt & Record<string, unknown>>(
    `SELECT id, provider, is_test, reason, detail, email, attributes, created_at FROM provider_try
      WHERE domain_id = $1 ORDER BY created_at DESC, id DESC`,
    [domainId],
  );
}
