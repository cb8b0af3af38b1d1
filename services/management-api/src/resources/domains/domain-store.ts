import type { Sql, Transaction } from '@millrace/db';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';
import { violates } from '../../sql/violates.ts';

export interface DomainRow {
  id: string;
  organization_id: string;
  domain: string;
  verification_challenge: string;
  verified_at: Date | null;
  jit_provisioning_enabled: boolean;
  sso_enforcement: string;
  saml_entity_id: string | null;
  saml_acs_url: string | null;
  saml_x509_cert: string | null;
}
type Row = DomainRow & Record<string, unknown>;

const columns = `id, organization_id, domain, verification_challenge, verified_at, jit_provisioning_enabled,
  sso_enforcement, saml_entity_id, saml_acs_url, saml_x509_cert`;

/** One page of an organization's domains by name, and how many there are. */
export async function listDomains(
  sql: Sql,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: DomainRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM organization_domain WHERE organization_id = $1', [
      organizationId,
    ]),
    sql.query<Row>(
      upToPageBytes(
        `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 ORDER BY domain LIMIT $2 OFFSET $3`,
        ['saml_entity_id', 'saml_acs_url', 'saml_x509_cert'],
      ),
      [organizationId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

export async function findDomain(sql: Sql, organizationId: string, id: string): Promise<DomainRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 AND id = $2`,
    [organizationId, id],
  );
  return rows[0];
}

/** As `findDomain`; nobody else changes the row before the transaction ends. */
export async function lockDomain(tx: Transaction, organizationId: string, id: string): Promise<DomainRow | undefined> {
  const rows = await tx.query<Row>(
    `SELECT ${columns} FROM organization_domain WHERE organization_id = $1 AND id = $2 FOR UPDATE`,
    [organizationId, id],
  );
  return rows[0];
}

/** Undefined when the name is taken, by whomever. */
export async function insertDomain(
  tx: Transaction,
  row: Omit<DomainRow, 'verified_at' | 'jit_provisioning_enabled' | 'sso_enforcement'>,
): Promise<DomainRow | undefined> {
  const rows = await tx.query<Row>(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, saml_entity_id, saml_acs_url,
                                      saml_x509_cert)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
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
 * Writes a locked row back; a new or empty `verified_at` also clears the note of the last vain check.
 * @returns false when the name is another row's, after which the transaction is of no more use.
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
  ];
  try {
    await tx.query(
      `UPDATE organization_domain
          SET domain = $2, verification_challenge = $3, verified_at = $4, jit_provisioning_enabled = $5,
              sso_enforcement = $6, saml_entity_id = $7, saml_acs_url = $8, saml_x509_cert = $9, updated_at = now(),
              last_verification_retry = CASE WHEN verified_at IS DISTINCT FROM $4 THEN NULL
                                             ELSE last_verification_retry END
        WHERE id = $1`,
      values,
    );
    return true;
  } catch (error) {
    if (violates(error, 'organization_domain_domain_key')) return false;
    throw error;
  }
}

/** Notes when a proof was looked for in vain. */
export async function noteVerificationRetry(tx: Sql, id: string, at: Date): Promise<void> {
  await tx.query('UPDATE organization_domain SET last_verification_retry = $2 WHERE id = $1', [id, at]);
}

export async function deleteDomain(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<DomainRow | undefined> {
  const rows = await tx.query<Row>(
    `DELETE FROM organization_domain WHERE organization_id = $1 AND id = $2 RETURNING ${columns}`,
    [organizationId, id],
  );
  return rows[0];
}
