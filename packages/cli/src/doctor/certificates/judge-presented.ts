import { type Finding, orOk, problem, warning } from '../finding.ts';
import type { PresentedCertificates } from './read-presented.ts';
import { placeOf, type TlsServer } from './tls-server.ts';

const dayMs = 86_400_000;
const warnDays = 30;
const urgentDays = 7;

const unknownIssuer = [
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
];

/** Whether services would trust a server by what it shows, and for how long. */
export function judgePresented(server: TlsServer, shown: PresentedCertificates, now = Date.now()): Finding[] {
  const place = placeOf(server);
  const first = shown.chain.reduce((a, b) => (b.validTo < a.validTo ? b : a));
  const findings = [
    expiry(server, first, now),
    ...(server.isVerified ? [trust(server, shown, now > first.validTo), name(server, shown)] : [anybody(place)]),
  ];
  return orOk(
    findings.filter((finding) => finding !== null),
    `${place} shows one that is trusted, until ${dayOf(first.validTo)}`,
  );
}

function expiry(server: TlsServer, { subject, validTo }: PresentedCertificates['chain'][number], now: number) {
  const place = placeOf(server);
  const advice = `exchange the certificate of ${place}, and reload the server`;
  const days = Math.floor((validTo - now) / dayMs);
  if (days >= warnDays) return null;
  if (validTo <= now) {
    // Who does not look continues.
    const say = server.isVerified ? problem : warning;
    return say(`${place} shows a certificate (${subject}) that expired on ${dayOf(validTo)}`, advice);
  }
  const say = days < urgentDays && server.isVerified ? problem : warning;
  return say(`${place} shows a certificate (${subject}) that expires in ${days} days, on ${dayOf(validTo)}`, advice);
}

function trust(
  { authoritySetting, ...server }: TlsServer,
  { refusal, issuer }: PresentedCertificates,
  hasExpired: boolean,
): Finding | null {
  if (refusal === null) return null;
  const place = placeOf(server);
  if (unknownIssuer.includes(refusal)) {
    return problem(
      `${place} shows a certificate by "${issuer}", an authority that is not known here`,
      `let ${authoritySetting} name a PEM file with that authority; or let the server send the certificates between its own and a known one too`,
    );
  }
  // Said already.
  if (refusal === 'CERT_HAS_EXPIRED' && hasExpired) return null;
  if (refusal === 'CERT_NOT_YET_VALID') {
    return problem(
      `${place} shows a certificate that is not valid yet`,
      'compare the clocks of this machine and of whoever signs',
    );
  }
  return problem(`${place} shows a certificate that is not trusted (${refusal})`, 'give the server another one');
}

function name(server: TlsServer, { otherNames }: PresentedCertificates): Finding | null {
  if (otherNames === null) return null;
  return problem(
    `${placeOf(server)} shows a certificate for other names: ${otherNames}`,
    `call the server by one of them, or give it a certificate for ${server.host}`,
  );
}

const anybody = (place: string) =>
  warning(
    `the certificate of ${place} is not verified: an impostor would receive the password`,
    'take out what says not to look (sslmode=no-verify, tls.rejectUnauthorized=false), and name the authority where it is one of your own',
  );

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
