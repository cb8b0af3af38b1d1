import type { Columns, Sql, Transaction } from '@millrace/db';
import { revokeTrustedDevices } from './second-factors.ts';

export interface Passkey
  extends Columns<
    'passkey',
    | 'id'
    | 'user_id'
    | 'credential_id'
    | 'public_key'
    | 'transports'
    | 'label'
    | 'authenticator_type'
    | 'created_at'
    | 'last_used_at'
  > {
  counter: number;
}

const columns = `id, user_id, credential_id, public_key, counter::float8 AS counter, transports, label, authenticator_type,
  created_at, last_used_at`;

/** Lists the passkeys of a user, oldest first. */
export async function listPasskeys(sql: Sql, userId: number): Promise<Passkey[]> {
  return sql.query<Passkey & Record<string, unknown>>(
    `SELECT ${columns} FROM passkey WHERE user_id = $1 ORDER BY created_at, id`,
    [userId],
  );
}

export async function findPasskey(sql: Sql, credentialId: string): Promise<Passkey | undefined> {
  const rows = await sql.query<Passkey & Record<string, unknown>>(
    `SELECT ${columns} FROM passkey WHERE credential_id = $1`,
    [credentialId],
  );
  return rows[0];
}

/**
 * Inserts a passkey.
 * @returns undefined if this passkey is already registered
 */
export async function insertPasskey(
  tx: Transaction,
  row: Omit<Passkey, 'created_at' | 'last_used_at'>,
): Promise<Passkey | undefined> {
  const rows = await tx.query<Passkey & Record<string, unknown>>(
    `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, transports, label, authenticator_type)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING ${columns}`,
    [
      row.id,
      row.user_id,
      row.credential_id,
      row.public_key,
      row.counter,
      row.transports,
      row.label,
      row.authenticator_type,
    ],
  );
  return rows[0];
}

/**
 * Records a use of a passkey if its signature counter increased. If the last counter was 0, another 0 is accepted too,
 * because authenticators without a counter always send 0.
 * @returns whether the use was recorded
 */
export async function recordPasskeyUse(tx: Transaction, id: string, counter: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE passkey SET counter = $2, last_used_at = now()
      WHERE id = $1 AND (counter < $2 OR counter = 0 AND $2 = 0) RETURNING id`,
    [id, counter],
  );
  return rows.length > 0;
}

export async function renamePasskey(
  tx: Transaction,
  userId: number,
  { id, label }: { id: string; label: string },
): Promise<Passkey | undefined> {
  const rows = await tx.query<Passkey & Record<string, unknown>>(
    `UPDATE passkey SET label = $3 WHERE id = $2 AND user_id = $1 RETURNING ${columns}`,
    [userId, id, label],
  );
  return rows[0];
}

/** Deletes a passkey. Trusted devices then require a second factor again. */
export async function deletePasskey(tx: Transaction, userId: number, id: string): Promise<Passkey | undefined> {
  const rows = await tx.query<Passkey & Record<string, unknown>>(
    `DELETE FROM passkey WHERE id = $2 AND user_id = $1 RETURNING ${columns}`,
    [userId, id],
  );
  if (rows.length > 0) await revokeTrustedDevices(tx, userId);
  return rows[0];
}

/**
 * Sets whether a passkey is required after a password. Turning this off makes trusted devices require a second factor
 * again.
 */
export async function setPasskeysAsSecondFactor(tx: Transaction, userId: number, count: boolean): Promise<void> {
  await tx.query('UPDATE "user" SET passkeys_enabled_for_2fa = $2 WHERE id = $1', [userId, count]);
  if (!count) await revokeTrustedDevices(tx, userId);
}
