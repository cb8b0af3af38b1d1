import {
  type Actor,
  acceptInvite,
  findInvite,
  findUser,
  getOrganization,
  inviteExpiresAt,
  listInvites,
  revokeInvite,
  signUpByInvite,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { Command } from 'commander';
import { levelName } from '../option-values.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface AcceptOptions {
  firstName?: string;
  lastName?: string;
}

export function addInviteCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('invite').description('invites to an organization');
  commands
    .command('list')
    .description('list invites nobody has accepted, the newest first')
    .requiredOption('--organization <id>', "the organization's UUID")
    .action(({ organization }: { organization: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const { id: organizationId } = await getOrganization(sql, organization);
        const invites = await listInvites(sql, { organizationId });
        printer.table(
          invites.map((invite) => ({
            id: invite.id,
            email: invite.target_email,
            level: invite.level,
            role: levelName(invite.level),
            mailTried: invite.emailing_attempt_made,
            createdAt: invite.created_at,
            expiresAt: inviteExpiresAt(invite),
          })),
        );
      }),
    );
  commands
    .command('accept')
    .description('accept an invite for the person, who gets an account and a key if there is none yet')
    .argument('<id>', "the invite's UUID, as `invite list` shows it")
    .option('--first-name <name>', 'first name of a new account')
    .option('--last-name <name>', 'last name of a new account')
    .action((id: string, options: AcceptOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const { membership, user, personalApiKey } = await change((tx, { actor }) =>
          acceptForPerson(tx, id, { ...options, actor }),
        );
        printer.record({
          id: membership.id,
          organizationId: membership.organization_id,
          userId: user.id,
          email: user.email,
          level: membership.level,
          role: levelName(membership.level),
          personalApiKey,
        });
        if (personalApiKey !== null) printer.note('Keep the personal API key: it is not shown again.');
      }),
    );
  commands
    .command('revoke')
    .description('withdraw an invite')
    .argument('<id>', "the invite's UUID, as `invite list` shows it")
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const revoked = await change((tx, { actor }) => revokeInvite(tx, { inviteId: id, actor }));
        printer.record({ id: revoked.id, email: revoked.target_email, revoked: true });
      }),
    );
}

/** The operator stands for the person: neither the secret of the mail nor a key is asked for. */
async function acceptForPerson(tx: Transaction, inviteId: string, options: AcceptOptions & { actor: Actor }) {
  const now = new Date();
  const { email_key: email } = await findInvite(tx, inviteId);
  const user = await findUser(tx, { email });
  if (!user) return signUpByInvite(tx, inviteId, { ...options, now, isEmailVerified: false });
  const accepted = await acceptInvite(tx, inviteId, { now, chooseUser: async () => user, actor: options.actor });
  return { ...accepted, personalApiKey: null };
}
