// SQL that selects domains to check and stores the result.

import type { Columns, Sql } from '@millrace/db';

export interface DueDomain
  extends Columns<
    'organization_domain',
    'id' | 'organization_id' | 'domain' | 'verification_challenge' | 'saml_x509_cert'
  > {}

/** Claims a verified domain that has not been checked for a day. Other workers skip it for a day. */
export async function claimDueDomain(sql: Sql): Promise<DueDomain | undefined> {
  const rows = await sql.query<DueDomain & Record<string, unknown>>(
    `UPDATE organization_domain SET proof_checked_at = now()
      WHERE id = (SELECT id FROM organization_domain
                   WHERE verified_at < now() - interval '1 day'
                     AND coalesce(proof_checked_at < now() - interval '1 day', true)
                   ORDER BY proof_checked_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id, organization_id, domain, verification_challenge, saml_x509_cert`,
  );
  return rows[0];
}

/**
 * Records whether a check found the domain's challenge record.
 * @returns the number of consecutive checks that did not find the record
 */
export async function recordDomainCheck(sql: Sql, id: string, isShown: boolean): Promise<number> {
  const rows = await sql.query<{ proof_misses: number }>(
    `UPDATE organization_domain
        SET proof_misses = CASE WHEN $2 THEN 0 ELSE proof_misses + 1 END,
            proof_missing_since = CASE WHEN $2 THEN NULL ELSE coalesce(proof_missing_since, now()) END
      WHERE id = $1 AND verified_at IS NOT NULL RETURNING proof_misses`,
    [id, isShown],
  );
  return rows[0]?.proof_misses ?? 0;
}
