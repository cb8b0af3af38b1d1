// Whether an organization holds a domain, by the TXT record it published.

import type { ChallengeCheck, LookUpChallenge } from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { domainIsTaken } from './rules.ts';
import { type DomainRow, findDomain, lockDomain, noteVerificationRetry, releaseName, updateDomain } from './store.ts';

/**
 * Looks for the proof and keeps what it finds (docs/api-rules.md#domains). The DNS is asked while nothing is
 * locked; if the domain was renamed or removed meanwhile, the answer counts for nothing.
 *
 * @param onVerified runs in the transaction that keeps the proof.
 * @returns the domain afterwards, verified or not, and what the DNS said.
 * @throws AppError `not_found`, or `invalid` with code `already_verified`, or `unique` when another organization has proved
 * the name.
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
): Promise<{ row: DomainRow; check: ChallengeCheck }> {
  const asked = refuseVerified(await findDomain(database.sql, organizationId, id));
  const check = await lookUp(asked.domain, asked.verification_challenge);
  return database.transaction(async (tx) => {
    const row = refuseVerified(await lockDomain(tx, organizationId, id));
    const isSame = row.domain === asked.domain && row.verification_challenge === asked.verification_challenge;
    if (check.outcome !== 'shown' || !isSame) {
      await noteVerificationRetry(tx, id, new Date());
      return { row, check };
    }
    const verified = { ...row, verified_at: new Date() };
    await releaseName(tx, row);
    if (!(await updateDomain(tx, verified))) throw domainIsTaken();
    await onVerified(tx, row, verified);
    return { row: verified, check };
  });
}

function refuseVerified(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  if (row.verified_at === null) return row;
  throw new AppError('invalid', 'This domain has already been verified.', { code: 'already_verified' });
}
