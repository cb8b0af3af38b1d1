import { formatDateTime } from '@millrace/http';
import type { DomainRow } from './domain-store.ts';

/** A domain as the API shows it. */
export function toDomain(row: DomainRow) {
  return {
    ...row,
    is_verified: row.verified_at !== null,
    verified_at: row.verified_at && formatDateTime(row.verified_at),
    has_saml: Boolean(row.saml_entity_id && row.saml_acs_url && row.saml_x509_cert),
  };
}
