/** Stores users' identities at sign-in providers, and finds the verified domains of email addresses. */

import type { Columns, Sql, Transaction } from '@millrace/db';

/** The kinds of sign-in providers, which are also the values of a domain's `sso_enforcement`. */
export const providerKinds = ['google-oauth2', 'github', 'gitlab', 'saml', 'oidc'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** Encryption context of a domain's client secret. A secret that was copied to another domain cannot be decrypted. */
export const clientSecretEncryptionContext = (domainId: string) => `oidc:${domainId}`;

export interface AddressDomain
  extends Columns<
    'organization_domain',
    'id' | 'organization_id' | 'domain' | 'sso_enforcement' | 'sso_proved' | 'sso_owner_exception'
  > {
  /** Whether users with an email address in the domain automatically become organization members when they sign in. */
  provisions: boolean;
  features: unknown;
  has_saml: boolean;
  has_oidc: boolean;
}

/** The number of days that a domain remains verified after its TXT record was last found. */
const proofGraceDays = 7;

/**
 * SQL condition that is true while domain `d` remains verified. Once it is false, another organization can verify the
 * domain.
 */
export const isProofInTime = `coalesce(d.proof_missing_since > now() - interval '${proofGraceDays} days', true)`;

/** Evaluates the condition `isProofInTime` for a row that was already read. */
export function hasProofInTime(
  { proof_missing_since: since }: Columns<'organization_domain', 'proof_missing_since'>,
  now: Date,
): boolean {
  return since === null || since.getTime() > now.getTime() - proofGraceDays * 24 * 3600 * 1000;
}

/**
 * Finds the verified domain with this name.
 * @param name a domain in lower-case ASCII
 * @returns undefined if no organization has verified it
 */
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

/**
 * Records that an administrator has signed in through the provider with its current settings.
 * @returns whether this is the first such sign-in
 */
export async function recordProviderProof(tx: Transaction, domainId: string, kind: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE organization_domain SET sso_proved = array_append(sso_proved, $2)
      WHERE id = $1 AND NOT $2 = ANY (sso_proved) RETURNING id`,
    [domainId, kind],
  );
  return rows.length > 0;
}

export type ProviderIdentity = Columns<'provider_identity', 'provider' | 'issuer' | 'subject'>;

/** Finds the user who is linked to an identity at a provider. Also updates the time of the identity's last use. */
export async function findUserByIdentity(
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

/**
 * Links an identity at a provider to a user.
 * @returns false if the identity is already linked to another account
 */
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

export async function hasIdentity(sql: Sql, userId: number): Promise<boolean> {
  const rows = await sql.query('SELECT FROM provider_identity WHERE user_id = $1 LIMIT 1', [userId]);
  return rows.length > 0;
}

export async function deleteDomainIdentities(tx: Transaction, domainId: string): Promise<void> {
  await tx.query('DELETE FROM provider_identity WHERE domain_id = $1', [domainId]);
}

/**
 * Deletes all credentials of an account with an unverified email address, because another person may have created the
 * account.
 */
export async function deleteAccountCredentials(tx: Transaction, userId: number): Promise<void> {
  const factors = ['user_password', 'passkey', 'user_totp', 'user_backup_code', 'provider_identity'];
  for (const table of [...factors, 'known_device', 'one_time_link', 'sign_in_step']) {
    await tx.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  }
}

/**
 * Records that a SAML message was used.
 * @returns false if any replica has used the message before
 */
export async function markAssertionUsed(sql: Sql, idHash: string, until: Date): Promise<boolean> {
  await sql.query('DELETE FROM used_assertion WHERE expires_at < now()');
  const rows = await sql.query(
    'INSERT INTO used_assertion (id_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id_hash',
    [idHash, until],
  );
  return rows.length > 0;
}
