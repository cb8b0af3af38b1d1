// Domains with the settings of their own provider, and the last tries to sign in by it.

import type { Columns, Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';

/** A verified domain whose own provider may be asked. */
export interface ProviderDomain
  extends Columns<
    'organization_domain',
    | 'id'
    | 'organization_id'
    | 'domain'
    | 'saml_entity_id'
    | 'saml_acs_url'
    | 'saml_x509_cert'
    | 'saml_allow_unsolicited'
    | 'oidc_issuer'
    | 'oidc_client_id'
    | 'oidc_client_secret'
  > {
  features: unknown;
}

export async function findProviderDomain(
  sql: Sql,
  by: { id: string } | { name: string },
): Promise<ProviderDomain | undefined> {
  const [column, value] = 'id' in by ? ['id::text', by.id] : ['domain', by.name];
  const rows = await sql.query<ProviderDomain & Record<string, unknown>>(
    `SELECT d.id, d.organization_id, d.domain, d.saml_entity_id, d.saml_acs_url, d.saml_x509_cert,
            d.saml_allow_unsolicited, d.oidc_issuer, d.oidc_client_id, d.oidc_client_secret,
            o.available_product_features AS features
       FROM organization_domain d JOIN organization o ON o.id = d.organization_id
      WHERE d.${column} = $1 AND d.verified_at IS NOT NULL`,
    [value],
  );
  return rows[0];
}

export type ProviderTry = Columns<
  'provider_try',
  'id' | 'provider' | 'is_test' | 'reason' | 'detail' | 'email' | 'attributes' | 'created_at'
>;

const triesKept = 20;

/** Writes a try down in place of the oldest. @returns its id. */
export async function noteTry(
  sql: Sql,
  row: Omit<ProviderTry, 'id' | 'created_at'> & { domain_id: string },
): Promise<string> {
  const id = uuidv7();
  await sql.query(
    `INSERT INTO provider_try (id, domain_id, provider, is_test, reason, detail, email, attributes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
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
  return id;
}

/** The last ones of a domain, the latest first. */
export async function listTries(sql: Sql, domainId: string): Promise<ProviderTry[]> {
  return sql.query<ProviderTry & Record<string, unknown>>(
    `SELECT id, provider, is_test, reason, detail, email, attributes, created_at FROM provider_try
      WHERE domain_id = $1 ORDER BY created_at DESC, id DESC`,
    [domainId],
  );
}
