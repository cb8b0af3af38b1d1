// SQL that reads and writes an organization's email domains, which determine how users sign in.

import { isProofInTime } from '@millrace/accounts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import { violatesConstraint } from '../../sql/violates.ts';

export type DomainRow = Columns<
  'organization_domain',
  | 'id'
  | 'organization_id'
  | 'domain'
  | 'verification_challenge'
  | 'verified_at'
  | 'jit_provisioning_enabled'
  | 'sso_enforcement'
  | 'saml_entity_id'
  | 'saml_acs_url'
  | 'saml_x509_cert'
  | 'saml_allow_unsolicited'
  | 'oidc_issuer'
  | 'oidc_client_id'
  | 'oidc_client_secret'
  | 'sso_owner_exception'
  | 'sso_proved'
  | 'proof_missing_since'
> & {
  features: unknown;
};
/**
 * SQL expression for a domain's name. The column `domain` is unique, so only one organization's row can have the name
 * in that column: the row of the organization that verified the name or, if none has, of the first one that added it.
 * Rows of other organizations have the name in `contested_name`.
 */
const nameOf = 'coalesce(contested_name, domain)';
const columns = `id, organization_id, ${nameOf} AS domain, verification_challenge, verified_at, jit_provisioning_enabled,
  sso_enforcement, saml_entity_id, saml_acs_url, saml_x509_cert, saml_allow_unsolicited, oidc_issuer, oidc_client_id,
  oidc_client_secret, sso_owner_exception, sso_proved, proof_missing_since,
  (SELECT available_product_features FROM organization o WHERE o.id = organization_id) AS features`;

/** Returns one page of an organization's domains, sorted by name, and the total count. */
export async function listDomains(
  sql: Sql,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: DomainRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM organization_domain WHERE organization_id = $1', [
      organizationId,
    ]),
    sql.query<DomainRow>(
      limitPageBytes(
        `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 ORDER BY ${nameOf} LIMIT $2 OFFSET $3`,
        ['saml_entity_id', 'saml_acs_url', 'saml_x509_cert'],
      ),
      [organizationId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

export async function findDomain(sql: Sql, organizationId: string, id: string): Promise<DomainRow | undefined> {
  const rows = await sql.query<DomainRow>(
    `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 AND id = $2`,
    [organizationId, id],
  );
  return rows[0];
}

/** Finds the domain with this ID or lower-case ASCII name, in any organization, if its verification is valid. */
export async function findVerifiedDomain(
  sql: Sql,
  by: { id: string } | { name: string },
): Promise<DomainRow | undefined> {
  const [column, value] = 'id' in by ? ['d.id::text', by.id] : ['d.domain', by.name];
  const rows = await sql.query<DomainRow>(
    `SELECT ${columns} FROM organization_domain d
      WHERE ${column} = $1 AND verified_at IS NOT NULL AND ${isProofInTime}`,
    [value],
  );
  return rows[0];
}

/** Like `findDomain`, but also locks the row until the transaction ends. */
export async function lockDomain(tx: Transaction, organizationId: string, id: string): Promise<DomainRow | undefined> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 AND id = $2 FOR UPDATE`,
    [organizationId, id],
  );
  return rows[0];
}

/**
 * Returns true if the organization already has a domain with this name, or another organization has a valid
 * verification for it.
 */
export async function isNameTaken(
  tx: Transaction,
  { id, organization_id, domain }: Pick<DomainRow, 'id' | 'organization_id' | 'domain'>,
): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM organization_domain d
      WHERE id <> $1 AND (organization_id = $2 AND ${nameOf} = $3
                          OR domain = $3 AND verified_at IS NOT NULL AND ${isProofInTime})`,
    [id, organization_id, domain],
  );
  return rows.length > 0;
}

const isHeld = (id: string, name: string) =>
  `EXISTS (SELECT 1 FROM organization_domain held WHERE held.domain = ${name} AND held.id <> ${id})`;

export async function hasScimToken(sql: Sql, domainId: string): Promise<boolean> {
  return (await sql.query('SELECT FROM scim_token WHERE domain_id = $1', [domainId])).length > 0;
}

/**
 * Inserts a domain.
 * @returns undefined if another transaction added the name concurrently
 */
export async function insertDomain(
  tx: Transaction,
  row: Pick<
    DomainRow,
    | 'id'
    | 'organization_id'
    | 'domain'
    | 'verification_challenge'
    | 'saml_entity_id'
    | 'saml_acs_url'
    | 'saml_x509_cert'
  >,
): Promise<DomainRow | undefined> {
  const rows = await tx.query<DomainRow>(
    `INSERT INTO organization_domain (id, organization_id, domain, contested_name, verification_challenge,
                                      saml_entity_id, saml_acs_url, saml_x509_cert)
     SELECT $1, $2, CASE WHEN is_held THEN $1::text ELSE $3 END, CASE WHEN is_held THEN $3 END, $4, $5, $6, $7
       FROM (SELECT ${isHeld('$1', '$3')} AS is_held) contested
     ON CONFLICT (domain) DO NOTHING
     RETURNING ${columns}`,
    [
      row.id,
      row.organization_id,
      row.domain,
      row.verification_challenge,
      row.saml_entity_id,
      row.saml_acs_url,
      row.saml_x509_cert,
    ],
  );
  return rows[0];
}

/**
 * Updates a locked row. A new or empty `verified_at` also clears the time of the last failed check.
 * @returns false if another organization has verified the name. The transaction must then be rolled back.
 */
export async function updateDomain(tx: Transaction, row: DomainRow): Promise<boolean> {
  const values = [
    row.id,
    row.domain,
    row.verification_challenge,
    row.verified_at,
    row.jit_provisioning_enabled,
    row.sso_enforcement,
    row.saml_entity_id,
    row.saml_acs_url,
    row.saml_x509_cert,
    row.saml_allow_unsolicited,
    row.oidc_issuer,
    row.oidc_client_id,
    row.oidc_client_secret,
    row.sso_owner_exception,
    row.sso_proved,
  ];
  try {
    await tx.query(
      `UPDATE organization_domain
          SET domain = CASE WHEN is_held THEN $1::text ELSE $2 END, contested_name = CASE WHEN is_held THEN $2 END,
              verification_challenge = $3, verified_at = $4, jit_provisioning_enabled = $5,
              sso_enforcement = $6, saml_entity_id = $7, saml_acs_url = $8, saml_x509_cert = $9,
              saml_allow_unsolicited = $10, oidc_issuer = $11, oidc_client_id = $12, oidc_client_secret = $13,
              sso_owner_exception = $14, sso_proved = $15, updated_at = now(),
              proof_missing_since = CASE WHEN verified_at IS DISTINCT FROM $4 THEN NULL ELSE proof_missing_since END,
              proof_misses = CASE WHEN verified_at IS DISTINCT FROM $4 THEN 0 ELSE proof_misses END,
              last_verification_retry = CASE WHEN verified_at IS DISTINCT FROM $4 THEN NULL
                                             ELSE last_verification_retry END
         FROM (SELECT $4::timestamptz IS NULL AND ${isHeld('$1', '$2')} AS is_held) contested
        WHERE id = $1`,
      values,
    );
    // The SCIM token was created for the provider of the old domain name.
    if (row.verified_at === null) await tx.query('DELETE FROM scim_token WHERE domain_id = $1', [row.id]);
    return true;
  } catch (error) {
    if (violatesConstraint(error, 'organization_domain_domain_key')) return false;
    throw error;
  }
}

/**
 * Makes a name available to a row that is about to be verified. If another row has the name in `domain`, that row gives
 * up the name, unless it has a valid verification.
 * @returns the other row as it was before, or undefined if no row had the name
 */
export async function releaseDomainName(
  tx: Transaction,
  { id, domain }: Pick<DomainRow, 'id' | 'domain'>,
): Promise<DomainRow | undefined> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${columns} FROM organization_domain d
      WHERE domain = $2 AND id <> $1 AND (verified_at IS NULL OR NOT ${isProofInTime}) FOR UPDATE OF d`,
    [id, domain],
  );
  const [holder] = rows;
  if (!holder) return undefined;
  await tx.query('UPDATE organization_domain SET contested_name = domain, domain = id::text WHERE id = $1', [
    holder.id,
  ]);
  return holder;
}

export async function recordFailedVerification(tx: Sql, id: string, at: Date): Promise<void> {
  await tx.query('UPDATE organization_domain SET last_verification_retry = $2 WHERE id = $1', [id, at]);
}

export async function deleteDomain(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<DomainRow | undefined> {
  const rows = await tx.query<DomainRow>(
    `DELETE FROM organization_domain WHERE organization_id = $1 AND id = $2 RETURNING ${columns}`,
    [organizationId, id],
  );
  return rows[0];
}
