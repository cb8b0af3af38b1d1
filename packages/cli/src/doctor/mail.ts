import { readConfig } from '@millrace/runtime';
import { Type } from 'typebox';
import {
  formatHostAndPort,
  judgePresentedCertificates,
  NoTlsError,
  readPresentedCertificates,
  type TlsServer,
} from './certificates.ts';
import {
  type CheckedInstallation,
  connectTimeoutMs,
  createUnreachableFinding,
  type Finding,
  type NamedFinding,
  ok,
  readSomeSettings,
  runChecks,
  warning,
} from './checks.ts';
import { mailFields } from './settings.ts';

/** Checks that the mail server in `SMTP_URL` responds, and checks its certificate. Does not log in or send email. */
export async function diagnoseMail({ env }: CheckedInstallation): Promise<NamedFinding[]> {
  const read = readSomeSettings('mail server', () => readConfig(Type.Object(mailFields), env));
  if ('problems' in read) return read.problems;
  const { smtpUrl } = read.value;
  if (smtpUrl === undefined) return [];
  return runChecks([{ name: 'mail server', run: () => lookAtMailServer(smtpUrl) }]);
}

async function lookAtMailServer(smtpUrl: string): Promise<Finding[]> {
  const url = new URL(smtpUrl);
  const server = mailServer(url);
  try {
    return judgePresentedCertificates(server, await readPresentedCertificates(server, connectTimeoutMs));
  } catch (error) {
    if (error instanceof NoTlsError) return [loginWithoutTls(server, url)];
    return [createUnreachableFinding(error, 'SMTP_URL')];
  }
}

/** Interprets the URL as Nodemailer does (https://nodemailer.com/smtp). */
function mailServer({ protocol, hostname, port, searchParams }: URL): TlsServer {
  const isSecure = protocol === 'smtps:' || searchParams.get('secure') === 'true';
  return {
    host: hostname.replace(/[[\]]/g, ''),
    port: Number(port || (isSecure ? 465 : 587)),
    begins: isSecure ? 'at once' : 'smtp',
    secureContext: undefined,
    isVerified: searchParams.get('tls.rejectUnauthorized') !== 'false',
    authoritySetting: 'NODE_EXTRA_CA_CERTS',
  };
}

function loginWithoutTls(server: TlsServer, { username, searchParams }: URL): Finding {
  const place = formatHostAndPort(server);
  if (searchParams.get('requireTLS') === 'true') {
    return warning(
      `${place} does not offer STARTTLS, which SMTP_URL requires, so no email is sent`,
      'Enable STARTTLS on the server, or use smtps://.',
    );
  }
  if (username === '') return ok(`${place} responds, without TLS`);
  return warning(
    `${place} does not offer STARTTLS, so the password in SMTP_URL is sent unencrypted`,
    'Enable STARTTLS on the server, or use smtps://.',
  );
}
