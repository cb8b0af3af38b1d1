import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { checkServerIdentity, connect as connectTls, type DetailedPeerCertificate } from 'node:tls';
import { beginTls } from './begin-tls.ts';
import type { TlsServer } from './tls-server.ts';

/** What a server shows to those who connect. */
export interface PresentedCertificates {
  /** The server's own first, then those who vouch for it, as far as they are known; `validTo` in ms since 1970. */
  chain: { subject: string; validTo: number }[];
  /** Who signed the last one. */
  issuer: string;
  /** Why it would not be trusted, as a code of OpenSSL; null when it would. */
  refusal: string | null;
  /** Names that it is for, when the server is called by another one; else null. */
  otherNames: string | null;
}

/**
 * Connects with the authorities of the settings, looks, and goes. Nothing is said to the server but that TLS is wanted, so that
 * also one may answer that is not trusted.
 */
export async function readPresented(server: TlsServer, timeoutMs: number): Promise<PresentedCertificates> {
  const { host, port, begins, secureContext } = server;
  const socket = connectTcp({ host, port }).setTimeout(timeoutMs);
  // Whoever waits for something hears of an error by that.
  socket.on('error', () => {}).on('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    await once(socket, 'connect');
    await beginTls(socket, begins);
    const secure = connectTls({
      ...{ socket, secureContext, rejectUnauthorized: false },
      ...(isIP(host) === 0 && { servername: host }),
      // Asked below, whatever else is wrong.
      checkServerIdentity: () => undefined,
    });
    secure.setTimeout(timeoutMs, () => secure.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    await once(secure, 'secureConnect');
    // A server that wants a certificate of ours may only now refuse us.
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
    // The root is its own issuer.
    if (each.issuerCertificate?.fingerprint256 === each.fingerprint256) break;
  }
  return { chain, issuer: nameOf(last.issuer) };
}

function nameOf({ CN, O }: DetailedPeerCertificate['subject']): string {
  return [CN ?? O ?? 'an authority without a name'].flat().join(' ');
}

function namesIn({ subject, subjectaltname }: DetailedPeerCertificate): string {
  return subjectaltname?.replace(/\b(?:DNS|IP Address):/g, '') ?? nameOf(subject);
}
