import type { Logger, Metrics } from '@millrace/runtime';
import { createTransport } from 'nodemailer';
import type { Mailer, MailOutcome, SmtpSettings } from './mailer.ts';

/** Enough for a bulk of twenty invites to take a second, few enough for servers that count connections. */
const maxConnections = 5;

/**
 * Sends mail over SMTP with a few kept connections. Addresses and contents are never logged: what a server answers may
 * quote them, so only its code is kept.
 */
export function createMailer(
  settings: SmtpSettings,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): Mailer {
  const { timeoutMs } = settings;
  const transport = createTransport(
    {
      url: settings.url,
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
    { from: settings.from },
  );
  // An idle connection that broke: the pool replaces it.
  transport.on('error', () => {});
  const sent = metrics.counter('millrace_mails_total', 'Attempts to send a mail, by what came of them.', ['result']);

  return {
    async send(mail) {
      const outcome = await attempt(() => transport.sendMail({ ...mail, signal: AbortSignal.timeout(timeoutMs) }));
      sent.inc({ result: outcome.result });
      if (outcome.result !== 'accepted') logger.warn('a mail could not be sent', { ...outcome });
      return outcome;
    },
    async stop() {
      transport.close();
    },
  };
}

async function attempt(send: () => Promise<unknown>): Promise<MailOutcome> {
  try {
    await send();
    return { result: 'accepted' };
  } catch (error) {
    const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
    const name = typeof code === 'string' ? code : 'UNKNOWN';
    if (typeof responseCode === 'number' && responseCode >= 400) {
      return { result: 'refused', isPermanent: responseCode >= 500, code: String(responseCode) };
    }
    // An address the library itself takes for none was never offered to the server.
    if (name === 'EENVELOPE') return { result: 'refused', isPermanent: true, code: name };
    return { result: 'unreachable', code: name };
  }
}
