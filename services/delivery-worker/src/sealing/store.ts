// SQL that finds and replaces stored secrets that are not encrypted with the newest key.

import type { Sql, Transaction } from '@millrace/db';

/** Locks some exports whose secrets are unencrypted or encrypted with an older configured key. */
export async function lockExportsToEncrypt(
  tx: Transaction,
  { newestPrefix, keyIds, limit }: { newestPrefix: string; keyIds: readonly string[]; limit: number },
): Promise<{ id: string; secrets: Record<string, unknown> }[]> {
  return tx.query(
    `SELECT id, destination_secrets AS secrets FROM batch_export
      WHERE destination_secrets <> '{}' AND NOT starts_with(coalesce(destination_secrets ->> 'sealed', ''), $1)
        AND (NOT destination_secrets ? 'sealed' OR split_part(destination_secrets ->> 'sealed', ':', 2) = ANY ($2))
      ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [newestPrefix, keyIds, limit],
  );
}

export async function storeSecrets(tx: Transaction, id: string, secrets: Record<string, unknown>): Promise<void> {
  await tx.query('UPDATE batch_export SET destination_secrets = $2 WHERE id = $1', [id, secrets]);
}

/** Locks some authenticator secrets that are unencrypted or encrypted with an older configured key. */
export async function lockTotpSecretsToEncrypt(
  tx: Transaction,
  { newestPrefix, keyIds, limit }: { newestPrefix: string; keyIds: readonly string[]; limit: number },
): Promise<{ id: number; secret: string }[]> {
  return tx.query(
    `SELECT user_id AS id, secret FROM user_totp
      WHERE NOT starts_with(secret, $1) AND (NOT starts_with(secret, 'v1:') OR split_part(secret, ':', 2) = ANY ($2))
      ORDER BY user_id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [newestPrefix, keyIds, limit],
  );
}

export async function storeTotpSecret(tx: Transaction, userId: number, secret: string): Promise<void> {
  await tx.query('UPDATE user_totp SET secret = $2 WHERE user_id = $1', [userId, secret]);
}

/** Locks some OpenID client secrets that are unencrypted or encrypted with an older configured key. */
export async function lockClientSecretsToEncrypt(
  tx: Transaction,
  { newestPrefix, keyIds, limit }: { newestPrefix: string; keyIds: readonly string[]; limit: number },
): Promise<{ id: string; secret: string }[]> {
  return tx.query(
    `SELECT id, oidc_client_secret AS secret FROM organization_domain
      WHERE NOT starts_with(oidc_client_secret, $1)
        AND (NOT starts_with(oidc_client_secret, 'v1:') OR split_part(oidc_client_secret, ':', 2) = ANY ($2))
      ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [newestPrefix, keyIds, limit],
  );
}

export async function storeClientSecret(tx: Transaction, domainId: string, secret: string): Promise<void> {
  await tx.query('UPDATE organization_domain SET oidc_client_secret = $2 WHERE id = $1', [domainId, secret]);
}

export interface EncryptedFlag {
  id: number;
  environmentId: number;
}

/**
 * Finds some flags with an ID above `after` and a payload that is unencrypted or encrypted with an older configured
 * key.
 */
export async function findFlagsToEncrypt(
  sql: Sql,
  {
    newestPrefix,
    keyIds,
    after,
    limit,
  }: { newestPrefix: string; keyIds: readonly string[]; after: number; limit: number },
): Promise<EncryptedFlag[]> {
  return sql.query<EncryptedFlag & Record<string, unknown>>(
    `SELECT f.id, f.project_id AS "environmentId" FROM feature_flag f
      WHERE f.has_encrypted_payloads AND f.id > $3
        AND EXISTS (SELECT FROM jsonb_path_query(f.filters, '$.payloads.*') AS payload
                     WHERE NOT starts_with(payload #>> '{}', $1)
                       AND (NOT starts_with(payload #>> '{}', 'v1:') OR split_part(payload #>> '{}', ':', 2) = ANY ($2)))
      ORDER BY f.id LIMIT $4`,
    [newestPrefix, keyIds, after, limit],
  );
}

/**
 * Locks and returns a flag's payloads. Changes to flags lock their environment, so the payloads cannot change until the
 * transaction ends.
 */
export async function lockPayloads(
  tx: Transaction,
  { id, environmentId }: EncryptedFlag,
): Promise<Record<string, unknown> | undefined> {
  await tx.query('SELECT FROM environment WHERE id = $1 FOR NO KEY UPDATE', [environmentId]);
  const rows = await tx.query<{ payloads: Record<string, unknown> }>(
    `SELECT filters -> 'payloads' AS payloads FROM feature_flag WHERE id = $1 AND has_encrypted_payloads`,
    [id],
  );
  return rows[0]?.payloads;
}

/**
 * Stores re-encrypted payloads. Keeps the flag's version and last editor, because the payloads' content stays the same.
 */
export async function storePayloads(tx: Transaction, id: number, payloads: Record<string, unknown>): Promise<void> {
  await tx.query(`UPDATE feature_flag SET filters = jsonb_set(filters, '{payloads}', $2) WHERE id = $1`, [
    id,
    payloads,
  ]);
}
