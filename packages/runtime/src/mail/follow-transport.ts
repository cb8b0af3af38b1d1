import { createTransport } from 'nodemailer';
import type { Logger } from '../logger.ts';
import type { SmtpSettings } from './mailer.ts';

/** Enough for a bulk of twenty invites to take a second, few enough for servers that count connections. */
const maxConnections = 5;

type Transport = ReturnType<typeof openTransport>;

interface Pool {
  url: string;
  transport: Transport;
  /** Mails that are being sent over it. */
  busy: number;
}

/** Kept connections to the server that the address names at the moment. */
export function followTransport(settings: SmtpSettings, logger: Logger) {
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
      // Once for each state of the file: should it be the last one, somebody has to hear of it.
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
    /** Connections to a former address are closed when the last mail over them has ended. */
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
      // The message is sent again by whoever asked, not by the pool.
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
  // An idle connection that broke: the pool replaces it.
  transport.on('error', () => {});
  return transport;
}
