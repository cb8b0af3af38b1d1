import type { Sql } from './transaction.ts';

/**
 * Returns the IDs of the keys that encrypt stored secrets: those of exports, second factors, OpenID providers and flag
 * payloads. Returns an empty array if the secrets cannot be read because the database is down or not migrated yet.
 */
export async function readSealingKeyIds(sql: Sql): Promise<string[]> {
  const query = sql.query<{ id: string }>(
    `SELECT DISTINCT split_part(destination_secrets ->> 'sealed', ':', 2) AS id
       FROM batch_export WHERE destination_secrets ? 'sealed' AND NOT deleted
      UNION
     SELECT split_part(payload #>> '{}', ':', 2)
       FROM feature_flag f CROSS JOIN LATERAL jsonb_path_query(f.filters, '$.payloads.*') AS payload
      WHERE f.has_encrypted_payloads AND payload #>> '{}' LIKE 'v1:%'
      UNION
     SELECT split_part(secret, ':', 2) FROM user_totp WHERE secret LIKE 'v1:%'
      UNION
     SELECT split_part(oidc_client_secret, ':', 2) FROM organization_domain WHERE oidc_client_secret LIKE 'v1:%'
      ORDER BY id`,
  );
  const rows = await query.catch(() => []);
  return rows.map(({ id }) => id);
}
