import { X509Certificate } from 'node:crypto';
import { type LookUpChallenge, selectAdministrators } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import type { Mailer } from '@millrace/runtime/mail';
import { takeDueDomain, writeProof } from './store.ts';

export interface CheckDomainsDeps {
  database: Pick<Database, 'sql'>;
  logger: Logger;
  mailer: Mailer | null;
  publicApiUrl: string | undefined;
  lookUpChallenge: LookUpChallenge;
}

/** After so many days in a row without the TXT record its administrators are told. */
const missesUntilMail = 3;
/** Days before the last SAML certificate ends, on which its administrators are told. */
const certificateMails = [30, 14, 7, 3, 1, 0];

/**
 * Looks once a day whether a verified domain still shows its TXT record. An answer that does not come is no miss. Nothing that
 * signs people in is taken away: after seven days nobody new joins by the domain (`findAddressDomain`).
 *
 * @returns whether there may be more.
 */
export async function checkDomains(deps: CheckDomainsDeps): Promise<boolean> {
  const { database, logger, lookUpChallenge } = deps;
  const domain = await takeDueDomain(database.sql);
  if (domain === undefined) return false;
  const { outcome } = await lookUpChallenge(domain.domain, domain.verification_challenge);
  if (outcome !== 'no answer') {
    const misses = await writeProof(database.sql, domain.id, outcome === 'shown');
    if (misses > 0) logger.warn('a verified domain does not show its TXT record', { domain: domain.domain, misses });
    if (misses === missesUntilMail) {
      await tell(deps, domain, {
        subject: `The proof of ${domain.domain} is away`,
        sentence: `The TXT record that proves ${domain.domain} to be yours (_millrace-challenge.${domain.domain}) was not found for ${misses} days. Put it back, or remove the domain. After seven days nobody joins your organization by it any more; who has an account signs in as before.`,
      });
    }
  }
  const days = daysOfCertificate(domain.saml_x509_cert, new Date());
  if (days !== null && certificateMails.includes(days)) {
    await tell(deps, domain, {
      subject: `The certificate for the sign-in of ${domain.domain} ends`,
      sentence: `The certificate of the identity provider of ${domain.domain} ends in ${days} day${days === 1 ? '' : 's'}. Add the new one beside it in the settings of the domain; both work until you take the old one out.`,
    });
  }
  return true;
}

/** Days until the last of the certificates ends; null where there is none that can be read, or where it is over. */
function daysOfCertificate(text: string | null, now: Date): number | null {
  const pieces = (text ?? '').split(/-----(?:BEGIN|END) CERTIFICATE-----/).filter((piece) => piece.trim() !== '');
  const ends = pieces.flatMap((piece) => {
    try {
      return [Date.parse(new X509Certificate(Buffer.from(piece, 'base64')).validTo)];
    } catch {
      return [];
    }
  });
  const days = ends.length === 0 ? -1 : Math.floor((Math.max(...ends) - now.getTime()) / (24 * 3600 * 1000));
  return days < 0 ? null : days;
}

async function tell(
  { database, mailer, publicApiUrl }: CheckDomainsDeps,
  { organization_id: organizationId }: { organization_id: string },
  { subject, sentence }: { subject: string; sentence: string },
): Promise<void> {
  if (!mailer) return;
  const administrators = await selectAdministrators(database.sql, organizationId, membershipLevels.administrator);
  const where = publicApiUrl === undefined ? [] : [`${publicApiUrl.replace(/\/+$/, '')}/console/`];
  for (const { email, first_name: name } of administrators) {
    const text = [`Hello${name ? ` ${name}` : ''},`, sentence, ...where].join('\n\n');
    await mailer.send({ to: email, subject: `${subject} (Millrace)`, text });
  }
}
