import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { TestCertificate } from './test-certificates.ts';

export interface ReceivedMail {
  /** Sender's email address in the envelope. `to` contains the recipients' email addresses. */
  from: string;
  to: string[];
  /** Headers by lower-case name. Continuation lines are joined, but encoded words are not decoded. */
  headers: Record<string, string>;
  /** The plain text of the mail. */
  body: string;
  /** The HTML version. Empty if the mail contains only plain text. */
  html: string;
  attachments: { cid: string; type: string; content: Buffer }[];
}

export interface MailServer {
  url: string;
  mails: ReceivedMail[];
  /** From now on, rejects mails to an email address (550), but accepts mails to all others. */
  refuse(address: string): void;
  stop(): Promise<void>;
}

export interface MailServerOptions {
  /** Certificate for STARTTLS. The server offers STARTTLS only with a certificate. */
  certificate?: TestCertificate;
  /**
   * Returns the password that senders must use. Called for each connection. If undefined, authentication is not
   * required.
   */
  password?: () => string;
}

/** Starts a real SMTP server on a free loopback port. The server stores all mails. */
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
        const to = envelope.rcptTo.map(({ address }) => address);
        parse(Buffer.concat(chunks)).then((mail) => {
          mails.push({ from, to, ...mail });
          done();
        }, done);
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

async function parse(raw: Buffer): Promise<Omit<ReceivedMail, 'from' | 'to'>> {
  const text = raw.toString('utf8');
  const lines = text
    .slice(0, text.indexOf('\r\n\r\n'))
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const { text: body = '', html = '', attachments } = await PostalMime.parse(raw);
  return {
    headers,
    body,
    html,
    attachments: attachments.map(({ contentId, mimeType, content }) => ({
      cid: contentId?.replace(/^<|>$/g, '') ?? '',
      type: mimeType,
      content: Buffer.from(content as ArrayBuffer),
    })),
  };
}
