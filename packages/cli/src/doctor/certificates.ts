// Checks TLS certificates for `millrace doctor`: certificates in files, and certificates that servers present.

import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type DetailedPeerCertificate, type SecureContext } from 'node:tls';
import { readEarliestExpiry } from '@millrace/runtime';
import { describeReason, type Finding, findingsOrOk, ok, problem, warning } from './checks.ts';

const certificateSettings = [
  'DATABASE_SSL_CA_FILE',
  'DATABASE_SSL_CERT_FILE',
  'PGSSLROOTCERT',
  'KAFKA_SSL_CA_FILE',
  'KAFKA_SSL_CERT_FILE',
  'REDIS_CA_FILE',
];
const dayMs = 86_400_000;
const fileWarnDays = 21;

/**
 * Checks the certificate files named in the settings. If a file contains several certificates, checks the one that
 * expires first.
 */
export function checkCertificateFiles(env: Record<string, string | undefined>, now = Date.now()): Finding[] {
  const named = certificateSettings.flatMap((name) => {
    const file = env[name]?.trim();
    return file ? [{ name, file }] : [];
  });
  if (named.length === 0) return [ok('no setting refers to a certificate file')];
  return named.map(({ name, file }) => judgeFile(name, readEarliestExpiry(file), now));
}

function judgeFile(name: string, expiry: number | null, now: number): Finding {
  if (expiry === null) {
    return problem(
      `${name}: the file does not contain a readable certificate`,
      'Set it to the path of a PEM file that this user can read.',
    );
  }
  const day = new Date(expiry).toISOString().slice(0, 10);
  const advice = 'Put a new certificate in the file. New connections will use it.';
  if (expiry <= now) return problem(`${name}: a certificate in this file expired on ${day}`, advice);
  const days = Math.floor((expiry - now) / dayMs);
  if (days < fileWarnDays)
    return warning(`${name}: a certificate in this file expires in ${days} days, on ${day}`, advice);
  return ok(`${name}: the certificate is valid until ${day}`);
}

export interface TlsServer {
  host: string;
  port: number;
  /**
   * What the client and the server exchange before the TLS handshake: nothing, PostgreSQL's SSLRequest, or an SMTP
   * greeting and STARTTLS.
   */
  begins: 'at once' | 'postgresql' | 'smtp';
  /**
   * The certificate authorities and the client certificate. If undefined, Node's default authorities are used, without
   * a client certificate.
   */
  secureContext: SecureContext | undefined;
  isVerified: boolean;
  /** The setting that names the file with additional certificate authorities. */
  authoritySetting: string;
}

export const formatHostAndPort = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;

/** Thrown if a server responds that it does not support TLS. */
export class NoTlsError extends Error {}

/**
 * Checks the certificates that servers send, all in parallel. Skips a server that cannot be reached, because a
 * different check reports this.
 */
export async function checkPresentedCertificates(servers: readonly TlsServer[], timeoutMs: number): Promise<Finding[]> {
  if (servers.length === 0) return [ok('the settings do not use TLS')];
  const findings = await Promise.all(servers.map((server) => checkOne(server, timeoutMs)));
  return findings.flat();
}

async function checkOne(server: TlsServer, timeoutMs: number): Promise<Finding[]> {
  try {
    return judgePresentedCertificates(server, await readPresentedCertificates(server, timeoutMs));
  } catch (error) {
    const place = formatHostAndPort(server);
    if (error instanceof NoTlsError) {
      return [problem(`${place}: ${error.message}, but the settings require it`, 'Enable TLS on the server.')];
    }
    return [
      problem(
        `could not read the certificate of ${place}: ${describeReason(error)}`,
        'Check that this is the TLS port, and whether the server requires a client certificate. Otherwise, see the ' +
          'finding about the server itself.',
      ),
    ];
  }
}

const presentedWarnDays = 30;
const urgentDays = 7;

const unknownIssuer = [
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];

/** Reports whether services trust the server's certificate, and when the certificate expires. */
export function judgePresentedCertificates(
  server: TlsServer,
  shown: PresentedCertificates,
  now = Date.now(),
): Finding[] {
  const place = formatHostAndPort(server);
  const first = shown.chain.reduce((a, b) => (b.validTo < a.validTo ? b : a));
  const findings = [
    expiry(server, first, now),
    ...(server.isVerified ? [trust(server, shown, now > first.validTo), name(server, shown)] : [notVerified(place)]),
  ];
  return findingsOrOk(
    findings.filter((finding) => finding !== null),
    `the certificate of ${place} is trusted and valid until ${dayOf(first.validTo)}`,
  );
}

function expiry(server: TlsServer, { subject, validTo }: PresentedCertificates['chain'][number], now: number) {
  const place = formatHostAndPort(server);
  const advice = `Replace the certificate of ${place} and reload the server.`;
  const days = Math.floor((validTo - now) / dayMs);
  if (days >= presentedWarnDays) return null;
  if (validTo <= now) {
    // If services do not verify the certificate, they still connect, so a failed check is only a warning.
    const say = server.isVerified ? problem : warning;
    return say(`a certificate of ${place} (${subject}) expired on ${dayOf(validTo)}`, advice);
  }
  const say = days < urgentDays && server.isVerified ? problem : warning;
  return say(`a certificate of ${place} (${subject}) expires in ${days} days, on ${dayOf(validTo)}`, advice);
}

function trust(
  { authoritySetting, ...server }: TlsServer,
  { refusal, issuer }: PresentedCertificates,
  hasExpired: boolean,
): Finding | null {
  if (refusal === null) return null;
  const place = formatHostAndPort(server);
  if (unknownIssuer.includes(refusal)) {
    return problem(
      `the certificate of ${place} was issued by "${issuer}", which is not a trusted authority`,
      `Set ${authoritySetting} to a PEM file with that authority's certificate, or configure the server to send its intermediate certificates as well.`,
    );
  }
  // `expiry` already contains a finding about an expired certificate.
  if (refusal === 'CERT_HAS_EXPIRED' && hasExpired) return null;
  if (refusal === 'CERT_NOT_YET_VALID') {
    return problem(
      `the certificate of ${place} is not valid yet`,
      'Compare the clock of this machine with the clock of the issuing authority.',
    );
  }
  return problem(
    `the certificate of ${place} is not trusted (${refusal})`,
    'Install another certificate on the server.',
  );
}

function name(server: TlsServer, { otherNames }: PresentedCertificates): Finding | null {
  if (otherNames === null) return null;
  return problem(
    `the certificate of ${formatHostAndPort(server)} is for other names: ${otherNames}`,
    `Use one of these names in the settings, or install a certificate for ${server.host} on the server.`,
  );
}

const notVerified = (place: string) =>
  warning(
    `the certificate of ${place} is not verified, so an impostor could get the password`,
    'Remove the option that turns verification off (sslmode=no-verify, tls.rejectUnauthorized=false). If you use your ' +
      'own certificate authority, set the file with its certificate.',
  );

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

interface PresentedCertificates {
  /** The server's certificate and then its known issuers. `validTo` is in milliseconds since the epoch. */
  chain: { subject: string; validTo: number }[];
  /** The issuer of the last certificate in the chain. */
  issuer: string;
  /** OpenSSL's error code if the chain is not trusted, or null if it is trusted. */
  refusal: string | null;
  /** The certificate's host names if none of them matches the server's name, or null if one matches. */
  otherNames: string | null;
}

/**
 * Performs a TLS handshake with the authorities from the settings, and closes the connection. The handshake succeeds
 * even if the server is not trusted, so that its certificates can be read.
 */
export async function readPresentedCertificates(server: TlsServer, timeoutMs: number): Promise<PresentedCertificates> {
  const { host, port, begins, secureContext } = server;
  const socket = connectTcp({ host, port }).setTimeout(timeoutMs);
  // The pending read or write reports the error. Without a listener, the same error would also crash the process.
  socket.on('error', () => {}).on('timeout', () => socket.destroy(new Error(`no response within ${timeoutMs} ms`)));
  try {
    await once(socket, 'connect');
    await beginTls(socket, begins);
    const secure = connectTls({
      socket,
      secureContext,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
      // Skip the identity check here. It runs separately below, so that its failure can be distinguished from other
      // errors.
      checkServerIdentity: () => undefined,
    });
    secure.setTimeout(timeoutMs, () => secure.destroy(new Error(`no response within ${timeoutMs} ms`)));
    await once(secure, 'secureConnect');
    // A server that requires a client certificate can reject the connection even after the handshake.
    secure.on('error', () => {});
    const certificate = secure.getPeerCertificate(true);
    return {
      ...chainOf(certificate),
      refusal: secure.authorized ? null : String(secure.authorizationError),
      otherNames: checkServerIdentity(host, certificate) === undefined ? null : namesIn(certificate),
    };
  } finally {
    socket.destroy();
  }
}

function chainOf(certificate: DetailedPeerCertificate): Pick<PresentedCertificates, 'chain' | 'issuer'> {
  const chain: PresentedCertificates['chain'] = [];
  let last = certificate;
  for (let each = certificate; each !== undefined; each = each.issuerCertificate) {
    chain.push({ subject: nameOf(each.subject), validTo: Date.parse(each.valid_to) });
    last = each;
    // A root certificate is its own issuer.
    if (each.issuerCertificate?.fingerprint256 === each.fingerprint256) break;
  }
  return { chain, issuer: nameOf(last.issuer) };
}

function nameOf({ CN, O }: DetailedPeerCertificate['subject']): string {
  return [CN ?? O ?? 'an unnamed authority'].flat().join(' ');
}

function namesIn({ subject, subjectaltname }: DetailedPeerCertificate): string {
  return subjectaltname?.replace(/\b(?:DNS|IP Address):/g, '') ?? nameOf(subject);
}

/** SSLRequest: its length and request code (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const postgresTlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * Exchanges the messages that the protocol requires before the TLS handshake.
 * @throws NoTlsError if the server does not support TLS
 */
async function beginTls(socket: Socket, begins: TlsServer['begins']): Promise<void> {
  if (begins === 'postgresql') await requestPostgresTls(socket);
  if (begins === 'smtp') await requestMailServerTls(socket);
}

async function requestPostgresTls(socket: Socket): Promise<void> {
  socket.write(postgresTlsRequest);
  const reply = await nextBytes(socket);
  if (reply.toString('latin1', 0, 1) !== 'S') throw new NoTlsError('the server does not support TLS');
}

/** Requests TLS from a mail server with STARTTLS (https://www.rfc-editor.org/rfc/rfc3207). */
async function requestMailServerTls(socket: Socket): Promise<void> {
  await nextReply(socket, '220');
  socket.write('EHLO localhost\r\n');
  const offers = await nextReply(socket, '250');
  if (!/^250[ -]STARTTLS\s*$/im.test(offers)) throw new NoTlsError('the server does not offer STARTTLS');
  socket.write('STARTTLS\r\n');
  await nextReply(socket, '220');
}

/**
 * Reads a complete SMTP reply, whose last line has a space after the code.
 * @throws Error if the reply has a different code
 */
async function nextReply(socket: Socket, code: string): Promise<string> {
  let text = '';
  while (!/^\d{3}(?: .*)?\r?\n$/m.test(text)) text += (await nextBytes(socket)).toString('latin1');
  if (!text.startsWith(code)) throw new Error(`the server responded with ${text.slice(0, 3)} instead of ${code}`);
  return text;
}

function nextBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.pause();
      socket.off('data', onData).off('error', onError).off('close', onClose);
      settle();
    };
    const onData = (bytes: Buffer) => done(() => resolve(bytes));
    const onError = (error: Error) => done(() => reject(error));
    const onClose = () => done(() => reject(new Error('the server closed the connection')));
    socket.on('data', onData).on('error', onError).on('close', onClose).resume();
  });
}
