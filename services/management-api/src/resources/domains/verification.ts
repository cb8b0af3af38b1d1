// Whether an organization holds a domain, by the TXT record it published.

import { Resolver } from 'node:dns/promises';
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

/** What stands in front of a domain's name in the DNS, so that the proof is in nobody's way. */
const challengeLabel = '_millrace-challenge';

interface DnsSettings {
  /** Addresses of name servers, `192.0.2.1` or `192.0.2.1:53`; the system's own when empty. */
  servers: readonly string[];
  /** How long one server may take, in milliseconds; each is asked twice. */
  timeoutMs: number;
}

/** What was asked, of whom, and what came back. */
export interface ChallengeCheck {
  outcome: 'shown' | 'not shown' | 'no answer';
  /** The name whose TXT records were asked for. */
  name: string;
  servers: string[];
  /** The records that are there, at most 20 of 255 characters; between the strings of one stands `" "`, as in a zone file. */
  found: string[];
  /** Why there are none, as the resolver says it: `ENOTFOUND`, `ETIMEOUT`; null when there are some. */
  error: string | null;
}

/** Looks whether a domain shows its challenge. Whatever goes wrong on the way is no proof. */
export type LookUpChallenge = (domain: string, challenge: string) => Promise<ChallengeCheck>;

/** @throws TypeError at start for an address that is none. */
export function createChallengeLookup({ servers, timeoutMs }: DnsSettings): LookUpChallenge {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (domain, challenge) => {
    const asked = { name: `${challengeLabel}.${domain}`, servers: resolver.getServers() };
    try {
      const records = await resolver.resolveTxt(asked.name);
      const isShown = records.some(([first]) => first === challenge);
      const found = records.slice(0, 20).map((parts) => parts.join('" "').slice(0, 255));
      return { ...asked, outcome: isShown ? 'shown' : 'not shown', found, error: null };
    } catch (error) {
      const { code } = error as { code?: unknown };
      const isEmpty = code === 'ENOTFOUND' || code === 'ENODATA';
      const name = typeof code === 'string' ? code : 'UNKNOWN';
      return { ...asked, outcome: isEmpty ? 'not shown' : 'no answer', found: [], error: name };
    }
  };
}
