import { disableEnforcement, mailAdministrators } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer } from '@millrace/runtime/mail';
import type { Command } from 'commander';
import type { Terminal } from '../output.ts';
import { withSession } from '../session.ts';

/** Adds `sso …`, which lets an operator restore access when single sign-on locks out all members. */
export function addSsoCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('sso').description('manage single sign-on');
  commands
    .command('off')
    .description(
      'stop enforcing single sign-on for a domain. Organization administrators are notified by email (requires SMTP_URL)',
    )
    .requiredOption('--domain <name>', 'a verified domain, such as example.com')
    .action(({ domain }: { domain: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { organizationId, before } = await change((tx, { actor }) => disableEnforcement(tx, { domain, actor }));
        const notified = before === '' ? 0 : await notifyAdministrators(terminal, sql, { domain, organizationId });
        printer.record({ domain, organizationId, before, notified });
        if (before !== '' && notified === 0)
          printer.note('No email was sent. Set SMTP_URL, or notify the administrators yourself.');
      }),
    );
}

/**
 * Emails an organization's administrators that enforcement was turned off.
 * @returns the number of emails that the mail server accepted
 */
async function notifyAdministrators(
  { env }: Terminal,
  sql: Sql,
  { domain, organizationId }: { domain: string; organizationId: string },
): Promise<number> {
  const { SMTP_URL: url, SMTP_FROM: from = 'Millrace <no-reply@localhost>' } = env;
  if (!url) return 0;
  const parts = {
    logger: createLogger('millrace-cli', 'error'),
    metrics: createMetrics({ withProcessMetrics: false }),
  };
  const mailer = createMailer({ url: () => url, from, timeoutMs: 10_000 }, parts);
  const sentence =
    `The operator of your Millrace installation has turned off single sign-on enforcement for ${domain}. ` +
    'Users of this domain can use any sign-in method again.';
  try {
    return await mailAdministrators({ sql, mailer }, organizationId, {
      subject: 'Single sign-on is no longer required',
      sentences: [sentence],
    });
  } finally {
    await mailer.stop();
  }
}
