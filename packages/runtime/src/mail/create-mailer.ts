import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { Mailer, MailOutcome, SmtpSettings } from './mailer.ts';
import { createReloadingTransport } from './reloading-transport.ts';

/**
 * Sends email over SMTP with a small connection pool. Never logs addresses or contents. A server response can quote
 * them, so only its code is logged.
 */
export function createMailer(
  settings: SmtpSettings,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): Mailer {
  const transport = createReloadingTransport(settings, logger);
  const sent = metrics.counter('millrace_mails_total', 'Attempts to send an email, by result', ['result']);

  return {
    async send(mail) {
      const signal = AbortSignal.timeout(settings.timeoutMs);
      const outcome = await attempt(() => transport.use((current) => current.sendMail({ ...mail, signal })));
      sent.inc({ result: outcome.result });
      if (outcome.result !== 'accepted') logger.warn('could not send an email', { ...outcome });
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
    // The server rejected the password, not this email. The email can be sent when the password is correct.
    if (name === 'EAUTH') return { result: 'refused', isPermanent: false, code: String(responseCode ?? name) };
    if (typeof responseCode === 'number' && responseCode >= 400) {
      return { result: 'refused', isPermanent: responseCode >= 500, code: String(responseCode) };
    }
    // The library rejected the email address without contacting the server.
    if (name === 'EENVELOPE') return { result: 'refused', isPermanent: true, code: name };
    return { result: 'unreachable', code: name };
  }
}
