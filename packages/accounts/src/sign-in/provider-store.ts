/** Whom sign-in providers mean, and the verified domains whose people they are, as they are stored. */

import type { Columns, Sql, Transaction } from '@millrace/db';

/** As `sso_enforcement` of a domain names them. */
export const providerKinds = ['google-oauth2', 'github', 'gitlab', 'saml', 'oidc'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** Where the client secret of a domain's provider belongs: it opens nowhere else. */
export const clientSecretContext = (domainId: string) => `oidc:${domainId}`;

/** A verified domain, as it counts for addresses in it. */
export interface AddressDomain
  extends Columns<
    'organization_domain',
    'id' | 'organization_id' | 'domain' | 'sso_enforcement' | 'sso_proved' | 'sso_owner_exception'
  > {
  /** Whether people with such an address become members when they sign in. */
  provisions: boolean;
  features: unknown;
  /** Whether all is filled in that its own provider needs. */
  has_saml: boolean;
  has_oidc: boolean;
}

/** For how long a verified domain counts as verified after its TXT record was last found. */
const proofGraceDays = 7;

/** SQL: whether the verified domain `d` still counts as verified. After that another organization can prove it. */
export const isProofInTime = `coalesce(d.proof_missing_since > now() - interval '${proofGraceDays} days', true)`;

/** The same as `isProofInTime`, for a row. */
export function hasProofInTime(
  { proof_missing_since: since }: Columns<'organization_domain', 'proof_missing_since'>,
  now: Date,
): boolean {
  return since === null || since.getTime() > now.getTime() - proofGraceDays * 24 * 3600 * 1000;
}

/** @param name of the domain in lower case and ASCII. @returns undefined where no organization has a proof in time. */
export async function findAddressDomain(sql: Sql, name: string): Promise<AddressDomain | undefined> {
  const rows = await sql.query<AddressDomain & Record<string, unknown>>(
    `SELECT d.id, d.organization_id, d.domain, d.sso_enforcement, d.sso_proved, d.sso_owner_exception,
            o.available_product_features AS features,
            coalesce(d.saml_entity_id, '') <> '' AND coalesce(d.saml_acs_url, '') <> ''
              AND coalesce(d.saml_x509_cert, '') <> '' AS has_saml,
            coalesce(d.oidc_issuer, '') <> '' AND coalesce(d.oidc_client_id, '') <> ''
              AND coalesce(d.oidc_client_secret, '') <> '' AS has_oidc,
            d.jit_provisioning_enabled AS provisions
       FROM organization_domain d JOIN organization o ON o.id = d.organization_id
      WHERE d.domain = $1 AND d.verified_at IS NOT NULL AND ${isProofInTime}`,
    [name],
  );
  return rows[0];
}

/** Notes that an administrator has signed in by a provider as it is set up now. @returns whether that is new. */
export async function noteProved(tx: Transaction, domainId: string, kind: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE organization_domain SET sso_proved = array_append(sso_proved, $2)
      WHERE id = $1 AND NOT $2 = ANY (sso_proved) RETURNING id`,
    [domainId, kind],
  );
  return rows.length > 0;
}

export type ProviderIdentity = Columns<'provider_identity', 'provider' | 'issuer' | 'subject'>;

/** @returns the linked user of a person at a provider. Notes the time of use. */
export async function useIdentity(
  sql: Sql,
  { provider, issuer, subject }: ProviderIdentity,
): Promise<number | undefined> {
  const rows = await sql.query<{ user_id: number }>(
    `UPDATE provider_identity SET last_used_at = now()
      WHERE provider = $1 AND issuer = $2 AND subject = $3 RETURNING user_id`,
    [provider, issuer, subject],
  );
  return rows[0]?.user_id;
}

/** @returns whether the identity is the user's now; false if it is linked with another account. */
export async function insertIdentity(
  tx: Transaction,
  row: ProviderIdentity & Columns<'provider_identity', 'user_id' | 'domain_id'>,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO provider_identity (provider, issuer, subject, user_id, domain_id) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (provider, issuer, subject)
        DO UPDATE SET last_used_at = now() WHERE provider_identity.user_id = excluded.user_id
     RETURNING user_id`,
    [row.provider, row.issuer, row.subject, row.user_id, row.domain_id],
  );
  return rows.length > 0;
}

/** Whether somebody has signed in by a provider. */
export async function hasIdentity(sql: Sql, userId: number): Promise<boolean> {
  const rows = await sql.query('SELECT FROM provider_identity WHERE user_id = $1 LIMIT 1', [userId]);
  return rows.length > 0;
}

/** Whom the provider of a domain means, it means no more. */
export async function forgetIdentities(tx: Transaction, domainId: string): Promise<void> {
  await tx.query('DELETE FROM provider_identity WHERE domain_id = $1', [domainId]);
}

/** What somebody may have prepared who never proved the address: nothing of it signs in any more. */
export async function deleteProofs(tx: Transaction, userId: number): Promise<void> {
  const factors = ['user_password', 'passkey', 'user_totp', 'user_backup_code', 'provider_identity'];
  for (const table of [...factors, 'known_device', 'one_time_link', 'sign_in_step']) {
    await tx.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  }
}

/** @returns false where the message was used before, on whichever replica. */
export async function useAssertion(sql: Sql, idHash: string, until: Date): Promise<boolean> {
  await sql.query('DELETE FROM used_assertion WHERE expires_at < now()');
  const rows = await sql.query(
    'INSERT INTO used_assertion (id_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id_hash',
    [idHash, until],
  );
  return rows.length > 0;
}
