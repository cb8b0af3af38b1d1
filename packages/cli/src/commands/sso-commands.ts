import { mailAdministrators, switchEnforcementOff } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer } from '@millrace/runtime/mail';
import type { Command } from 'commander';
import type { Terminal } from '../output.ts';
import { withSession } from '../session.ts';

/** What an operator does where single sign-on keeps everybody out. */
export function addSsoCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('sso').description('single sign-on of organizations');
  commands
    .command('off')
    .description('let people of a domain sign in by any way again; its administrators are told by mail (SMTP_URL)')
    .requiredOption('--domain <name>', 'a verified domain, such as example.com')
    .action(({ domain }: { domain: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { organizationId, before } = await change((tx, { actor }) => switchEnforcementOff(tx, { domain, actor }));
        const told = before === '' ? 0 : await tell(terminal, sql, { domain, organizationId });
        printer.record({ domain, organizationId, before, told });
        if (before !== '' && told === 0)
          printer.note('No mail was sent: set SMTP_URL, or tell the administrators yourself.');
      }),
    );
}

/** @returns how many mails were taken. */
async function tell(
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
  const sentence = `the operator of your installation has switched off that people of ${domain} sign in by single sign-on only. They may sign in by any way again.`;
  try {
    return await mailAdministrators({ sql, mailer }, organizationId, {
      subject: 'Single sign-on is not demanded any more',
      sentences: [sentence],
    });
  } finally {
    await mailer.stop();
  }
}
