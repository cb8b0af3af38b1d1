// Checks whether an organization's own identity provider for a domain is ready to use.

import { readSamlCertificates } from '@millrace/accounts';
import { isAppError } from '@millrace/runtime';
import { checkSignOnUrl } from '../saml/messages.ts';
import type { DomainRow } from './store.ts';

/**
 * Checks a domain's SAML provider. Invalid settings can be stored (docs/api/domains.md), so they are checked before
 * each use.
 * @returns null if a field is missing. Otherwise, `problem` is the reason why users cannot sign in through the
 *   provider, or null if they can sign in.
 */
export function checkSamlProvider(
  row: Pick<DomainRow, 'saml_entity_id' | 'saml_acs_url' | 'saml_x509_cert'>,
): { problem: string | null; expiresAt: Date | null } | null {
  if (!row.saml_entity_id || !row.saml_acs_url || !row.saml_x509_cert) return null;
  try {
    checkSignOnUrl(row.saml_acs_url);
    const ends = readSamlCertificates(row.saml_x509_cert).map(({ expiresAt }) => expiresAt.getTime());
    return { problem: null, expiresAt: new Date(Math.max(...ends)) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { problem: error.message, expiresAt: null };
  }
}

export function hasOidc(row: Pick<DomainRow, 'oidc_issuer' | 'oidc_client_id' | 'oidc_client_secret'>): boolean {
  return Boolean(row.oidc_issuer && row.oidc_client_id && row.oidc_client_secret);
}
