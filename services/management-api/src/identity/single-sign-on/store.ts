// The latest attempts to sign in through the provider of a domain.

import type { Columns, Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';

export type ProviderTry = Columns<
  'provider_try',
  'id' | 'provider' | 'is_test' | 'reason' | 'detail' | 'email' | 'attributes' | 'created_at'
>;

const triesKept = 20;

/** Stores an attempt, and deletes the oldest ones over the limit. */
export async function noteTry(
  sql: Sql,
  row: Omit<ProviderTry, 'id' | 'created_at'> & { domain_id: string },
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
       AND id NOT IN (SELECT id FROM provider_try WHERE domain_id = $1 ORDER BY created_at DESC, id DESC LIMIT ${triesKept})`,
    [row.domain_id],
  );
}

/** The attempts of a domain, the latest first. */
export async function listTries(sql: Sql, domainId: string): Promise<ProviderTry[]> {
  return sql.query<ProviderTry & Record<string, unknown>>(
    `SELECT id, provider, is_test, reason, detail, email, attributes, created_at FROM provider_try
      WHERE domain_id = $1 ORDER BY created_at DESC, id DESC`,
    [domainId],
  );
}
