/** Stores the email addresses of removed members, so that they do not rejoin an organization automatically. */

import type { Columns, Sql, Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';

/**
 * Prevents an email address from joining the organization automatically through one of its domains. An invite removes
 * the block.
 */
export async function blockAddress(
  tx: Transaction,
  { organizationId, email, actor }: { organizationId: string; email: string; actor: Actor },
): Promise<void> {
  const rows = await tx.query(
    'INSERT INTO kept_out_address (organization_id, email) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING email',
    [organizationId, email],
  );
  if (rows.length > 0) await record(tx, { organizationId, actor, before: null, after: email });
}

export async function isAddressBlocked(sql: Sql, organizationId: string, email: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM kept_out_address WHERE organization_id = $1 AND email = $2', [
    organizationId,
    email,
  ]);
  return rows.length > 0;
}

/** @returns whether the address was blocked */
export async function unblockAddress(
  tx: Transaction,
  { organizationId, email, actor }: { organizationId: string; email: string; actor: Actor },
): Promise<boolean> {
  const rows = await tx.query(
    'DELETE FROM kept_out_address WHERE organization_id = $1 AND email = $2 RETURNING email',
    [organizationId, email],
  );
  if (rows.length > 0) await record(tx, { organizationId, actor, before: email, after: null });
  return rows.length > 0;
}

async function record(
  tx: Transaction,
  {
    organizationId,
    actor,
    ...values
  }: { organizationId: string; actor: Actor; before: string | null; after: string | null },
): Promise<void> {
  const action = values.after === null ? 'deleted' : 'created';
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'updated',
    name: null,
    actor,
    changes: [{ type: 'Organization', action, field: 'kept_out', ...values }],
  });
}

/** Returns a page of an organization's blocked addresses, and the total count. */
export async function listBlockedAddresses(
  sql: Sql,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: Columns<'kept_out_address', 'email' | 'created_at'>[] }> {
  const rows = await sql.query<{ email: string; created_at: Date; count: number }>(
    `SELECT email, created_at, count(*) OVER ()::int AS count FROM kept_out_address
      WHERE organization_id = $1 ORDER BY email LIMIT $2 OFFSET $3`,
    [organizationId, limit, offset],
  );
  return { count: rows[0]?.count ?? 0, rows };
}
