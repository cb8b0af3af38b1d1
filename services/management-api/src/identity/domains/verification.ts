// Verifies an organization's control over a domain with a TXT record.

import { type ChallengeCheck, deleteDomainIdentities, type LookUpChallenge } from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { domainTakenError, recordDomainActivity, withoutVerification } from './rules.ts';
import {
  type DomainRow,
  findDomain,
  lockDomain,
  recordFailedVerification,
  releaseDomainName,
  updateDomain,
} from './store.ts';

/**
 * Looks up the TXT record and stores the result (docs/api/domains.md). No lock is held during the DNS query. If the
 * domain is renamed or deleted during the query, the result is discarded. A domain whose record was missing can be
 * verified again. If another organization verified the name earlier and its verification is no longer valid, that
 * verification is withdrawn.
 * @param onVerified runs in the transaction that stores the verification
 * @returns the domain after the check, the result of the DNS query, and the domain of the organization whose
 *   verification was withdrawn
 * @throws AppError `not_found`, `invalid` with code `already_verified`, or `unique` if another organization has
 *   verified the name
 */
export async function verifyDomain(
  database: Pick<Database, 'sql' | 'transaction'>,
  lookUp: LookUpChallenge,
  {
    organizationId,
    id,
    onVerified,
  }: {
    organizationId: string;
    id: string;
    onVerified: (tx: Transaction, before: DomainRow, after: DomainRow) => Promise<void>;
  },
): Promise<{ row: DomainRow; check: ChallengeCheck; lost: DomainRow | null }> {
  const unverified = refuseVerified(await findDomain(database.sql, organizationId, id));
  const check = await lookUp(unverified.domain, unverified.verification_challenge);
  return database.transaction(async (tx) => {
    const row = refuseVerified(await lockDomain(tx, organizationId, id));
    const isSame = row.domain === unverified.domain && row.verification_challenge === unverified.verification_challenge;
    if (check.outcome !== 'shown' || !isSame) {
      await recordFailedVerification(tx, id, new Date());
      return { row, check, lost: null };
    }
    const verified = { ...row, verified_at: new Date() };
    const holder = await releaseDomainName(tx, row);
    if (!(await updateDomain(tx, verified))) throw domainTakenError();
    await onVerified(tx, row, verified);
    const lost = holder?.verified_at ? holder : null;
    if (lost) await withdrawProof(tx, lost);
    return { row: { ...verified, proof_missing_since: null }, check, lost };
  });
}

/**
 * Clears a domain's verification and the field `sso_proved`. Users can then no longer sign in through the provider,
 * even after the organization verifies the name again.
 */
async function withdrawProof(tx: Transaction, before: DomainRow): Promise<void> {
  const after = withoutVerification(before);
  await updateDomain(tx, after);
  await deleteDomainIdentities(tx, before.id);
  await recordDomainActivity(tx, null, { activity: 'updated', before, after });
}

function refuseVerified(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  if (row.verified_at === null || row.proof_missing_since !== null) return row;
  throw new AppError('invalid', 'This domain has already been verified.', { code: 'already_verified' });
}
