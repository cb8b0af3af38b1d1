// Checks verified email domains once a day, and emails administrators about missing records and expiring certificates.

import { type LookUpChallenge, mailAdministrators, readSamlCertificates } from '@millrace/accounts';
import type { Database } from '@millrace/db';
import { isAppError, type Logger } from '@millrace/runtime';
import type { Mailer } from '@millrace/runtime/mail';
import { claimDueDomain, recordDomainCheck } from './store.ts';

export interface CheckDomainsDeps {
  database: Pick<Database, 'sql'>;
  logger: Logger;
  mailer: Mailer | null;
  publicApiUrl: string | undefined;
  lookUpChallenge: LookUpChallenge;
}

/** After this number of consecutive days without the TXT record, administrators get an email. */
const missesUntilMail = 3;
/** Administrators get an email this many days before the last SAML certificate expires. */
const certificateMails = [30, 14, 7, 3, 1, 0];

/**
 * Checks once a day whether a verified domain still has its TXT record. A DNS timeout does not count as a missing
 * record. A domain that has had no record for seven days no longer counts as verified (see `isProofInTime`).
 * @returns whether more domains may be due
 */
export async function checkDomains(deps: CheckDomainsDeps): Promise<boolean> {
  const { database, logger, lookUpChallenge } = deps;
  const domain = await claimDueDomain(database.sql);
  if (domain === undefined) return false;
  const { outcome } = await lookUpChallenge(domain.domain, domain.verification_challenge);
  if (outcome !== 'no answer') {
    const misses = await recordDomainCheck(database.sql, domain.id, outcome === 'shown');
    if (misses > 0) logger.warn('TXT record of a verified domain is missing', { domain: domain.domain, misses });
    if (misses === missesUntilMail) {
      await tell(deps, domain, {
        subject: `The TXT record of ${domain.domain} is missing`,
        sentence:
          `The TXT record that verifies ${domain.domain} for your organization (_millrace-challenge.${domain.domain}) has been ` +
          `missing for ${misses} days. Add it again, or remove the domain. After seven days without the record, the domain is no ` +
          'longer verified: users can no longer join your organization or sign in through it, single sign-on is not enforced, ' +
          'and another organization can verify the domain.',
      });
    }
  }
  const days = daysOfCertificate(domain.saml_x509_cert, new Date());
  if (days !== null && certificateMails.includes(days)) {
    await tell(deps, domain, {
      subject: `The single sign-on certificate of ${domain.domain} is about to expire`,
      sentence:
        `The identity provider's certificate for ${domain.domain} expires in ${days} day${days === 1 ? '' : 's'}. ` +
        'Add the new certificate in the domain settings, in addition to the old one. Both certificates work until you remove the old one.',
    });
  }
  return true;
}

/** Returns the number of days until the last certificate expires, or null if no certificate is valid. */
function daysOfCertificate(text: string | null, now: Date): number | null {
  try {
    const ends = readSamlCertificates(text ?? '').map(({ expiresAt }) => expiresAt.getTime());
    const days = Math.floor((Math.max(...ends) - now.getTime()) / (24 * 3600 * 1000));
    return days < 0 ? null : days;
  } catch (error) {
    // The console shows certificate problems on the domain's page, so an email is not needed.
    if (isAppError(error, 'invalid')) return null;
    throw error;
  }
}

async function tell(
  { database, mailer, publicApiUrl }: CheckDomainsDeps,
  { organization_id: organizationId }: { organization_id: string },
  { subject, sentence }: { subject: string; sentence: string },
): Promise<void> {
  if (!mailer) return;
  const where = publicApiUrl === undefined ? [] : [`${publicApiUrl.replace(/\/+$/, '')}/console/`];
  await mailAdministrators({ sql: database.sql, mailer }, organizationId, { subject, sentences: [sentence, ...where] });
}
