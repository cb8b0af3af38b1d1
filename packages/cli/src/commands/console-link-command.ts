// `millrace console-link`: creates a link that lets a user, such as the first owner, sign in once.

import { createOneTimeLink, listOrganizations } from '@millrace/accounts';
import type { Command } from 'commander';
import { UsageError } from '../failures.ts';
import { resolveUserId } from '../options.ts';
import type { Terminal } from '../output.ts';
import { withSession } from '../session.ts';

export function addConsoleLinkCommand(program: Command, terminal: Terminal): void {
  program
    .command('console-link')
    .description(
      'create a sign-in link for a user. The link works once and expires after an hour. If the installation has no ' +
        'organization yet, the link creates the first owner',
    )
    .option('--user <id or address>', 'user ID or email address')
    .action(({ user }: { user?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const isSetUp = (await listOrganizations(sql)).length > 0;
        if (user === undefined && isSetUp) throw new UsageError('--user: Specify the user to sign in.');
        const link =
          user === undefined
            ? ({ kind: 'first_owner', userId: null } as const)
            : ({ kind: 'sign_in', userId: await resolveUserId(sql, user) } as const);
        const { secret, expiresAt } = await change((tx) => createOneTimeLink(tx, link));
        const address = terminal.env.PUBLIC_API_URL?.replace(/\/+$/, '') ?? '';
        printer.record({ kind: link.kind, link: `${address}/console/enter#${secret}`, expiresAt });
        printer.note(
          `Anyone who has this link can use it once.${address === '' ? ' Open it at the URL of the management API.' : ''}`,
        );
      }),
    );
}
