import type { Database, Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { domainIsTaken } from './domain-name.ts';
import {
  type DomainRow,
  findDomain,
  lockDomain,
  noteVerificationRetry,
  releaseName,
  updateDomain,
} from './domain-store.ts';
import type { LookUpChallenge } from './look-up-challenge.ts';

/**
 * Looks for the proof and keeps what it finds (docs/api-rules.md#domains). The DNS is asked while nothing is
 * locked; if the domain was renamed or removed meanwhile, the answer counts for nothing.
 *
 * @param onVerified runs in the transaction that keeps the proof.
 * @returns the domain afterwards, verified or not.
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
): Promise<DomainRow> {
  const asked = refuseVerified(await findDomain(database.sql, organizationId, id));
  const found = await lookUp(asked.domain, asked.verification_challenge);
  return database.transaction(async (tx) => {
    const row = refuseVerified(await lockDomain(tx, organizationId, id));
    const isSame = row.domain === asked.domain && row.verification_challenge === asked.verification_challenge;
    if (found !== 'shown' || !isSame) {
      await noteVerificationRetry(tx, id, new Date());
      return row;
    }
    const verified = { ...row, verified_at: new Date() };
    await releaseName(tx, row);
    if (!(await updateDomain(tx, verified))) throw domainIsTaken();
    await onVerified(tx, row, verified);
    return verified;
  });
}

function refuseVerified(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  if (row.verified_at === null) return row;
  throw new AppError('invalid', 'This domain has already been verified.', { code: 'already_verified' });
}
