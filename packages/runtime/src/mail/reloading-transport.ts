// Creates a mail transport that reads the current SMTP credentials for each email.

import { createTransport } from 'nodemailer';
import type { Logger } from '../logger.ts';
import type { SmtpSettings } from './mailer.ts';

/** Five connections can send twenty invites within a second, and are few enough for servers that limit connections. */
const maxConnections = 5;

type Transport = ReturnType<typeof openTransport>;

interface Pool {
  url: string;
  transport: Transport;
  busy: number;
}

export function createReloadingTransport(settings: SmtpSettings, logger: Logger) {
  const { url } = settings;
  const read = typeof url === 'string' ? () => url : url;
  let current = open(read());
  let refused = '';

  function open(address: string): Pool {
    return { url: address, transport: openTransport(address, settings), busy: 0 };
  }

  function latest(): Pool {
    const address = read();
    if (address === current.url || address === refused) return current;
    if (!isAddress(address)) {
      // Warn only once per file content, because the URL may stay invalid.
      refused = address;
      logger.warn('SMTP_URL is no longer a valid URL; keeping the previous one');
      return current;
    }
    const former = current;
    current = open(address);
    if (former.busy === 0) former.transport.close();
    return current;
  }

  return {
    /** Runs `send`. If the URL has changed, closes the connections to the former URL after their last email. */
    async use<T>(send: (transport: Transport) => Promise<T>): Promise<T> {
      const pool = latest();
      pool.busy += 1;
      try {
        return await send(pool.transport);
      } finally {
        pool.busy -= 1;
        if (pool !== current && pool.busy === 0) pool.transport.close();
      }
    },
    close(): void {
      current.transport.close();
    },
  };
}

function isAddress(text: string): boolean {
  return /^smtps?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}

function openTransport(url: string, { from, timeoutMs }: SmtpSettings) {
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections,
      // The caller, not the pool, decides whether to retry an email.
      maxRequeues: 0,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  // Ignore the error: the pool replaces broken idle connections.
  transport.on('error', () => {});
  return transport;
}
