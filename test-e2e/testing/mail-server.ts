import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { TestCertificate } from './test-certificates.ts';

export interface ReceivedMail {
  /** Addresses of the envelope. */
  from: string;
  to: string[];
  /** Headers by their name in lower case, continuation lines joined. Encoded words stay encoded. */
  headers: Record<string, string>;
  /** Everything after the headers, decoded when it is quoted-printable or base64. */
  body: string;
}

export interface MailServer {
  /** `smtp://127.0.0.1:port`. */
  url: string;
  /** What was accepted so far, in order. */
  mails: ReceivedMail[];
  /** Mailboxes that are refused for good (550); any other address is taken. */
  refuse(address: string): void;
  stop(): Promise<void>;
}

export interface MailServerOptions {
  /** With it, the server offers STARTTLS. */
  certificate?: TestCertificate;
  /** With it, whoever sends has to know it; asked for each connection. */
  password?: () => string;
}

/** A real SMTP server on a free port of loopback that keeps what it is sent. */
export async function startMailServer({ certificate, password }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refused = new Set<string>();
  const server = new SMTPServer({
    ...certificate,
    authOptional: password === undefined,
    allowInsecureAuth: true,
    disabledCommands: [...(password ? [] : ['AUTH']), ...(certificate ? [] : ['STARTTLS'])],
    onAuth(given, _session, done) {
      if (given.password === password?.()) done(null, { user: given.username });
      else done(new Error('Wrong password'));
    },
    disableReverseLookup: true,
    logger: false,
    onRcptTo({ address }, _session, done) {
      done(refused.has(address) ? Object.assign(new Error('No such mailbox here'), { responseCode: 550 }) : null);
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), ...parse(Buffer.concat(chunks)) });
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    refuse: (address) => void refused.add(address),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parse(raw: Buffer): Pick<ReceivedMail, 'headers' | 'body'> {
  const text = raw.toString('utf8');
  const split = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, split)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: decode(text.slice(split + 4), headers['content-transfer-encoding'] ?? '') };
}

function decode(body: string, encoding: string): string {
  if (encoding.toLowerCase() === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding.toLowerCase() !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
