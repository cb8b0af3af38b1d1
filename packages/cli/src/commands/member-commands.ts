// `millrace member …` and `millrace invite …`: commands that manage an organization's members and invites.

import {
  type Actor,
  acceptInvite,
  addMember,
  findInvite,
  findUser,
  getInviteExpiry,
  getOrganization,
  listInvites,
  listMembers,
  removeMember,
  revokeInvite,
  setMemberLevel,
  signUpByInvite,
} from '@millrace/accounts';
import { type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { resolveUserId } from '../options.ts';
import type { Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

interface NewMemberOptions {
  organization: string;
  user: string;
  level: MembershipLevel;
}

export function addMemberCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('member').description('manage organization members');
  commands
    .command('add')
    .description('add a user to an organization')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .requiredOption('--user <id or address>', 'user ID or email address')
    .addOption(levelOption().default(membershipLevels.member, 'member'))
    .action((options: NewMemberOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const { organization: organizationId, level } = options;
        const added = await change((tx, { actor }) => addMember(tx, { organizationId, userId, level, actor }));
        printer.record(toRow(added));
      }),
    );
  commands
    .command('set-level')
    .description('change a membership level')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .requiredOption('--user <id or address>', 'user ID or email address')
    .addOption(levelOption().makeOptionMandatory())
    .action((options: NewMemberOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const { organization: organizationId, level } = options;
        const changed = await change((tx, { actor }) => setMemberLevel(tx, { organizationId, userId, level, actor }));
        printer.record(toRow(changed));
      }),
    );
  commands
    .command('remove')
    .description(
      "remove a user from an organization. The user's account and keys remain. Pending invites that the user sent are revoked",
    )
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .requiredOption('--user <id or address>', 'user ID or email address')
    .action((options: Pick<NewMemberOptions, 'organization' | 'user'>, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const { organization: organizationId } = options;
        const removed = await change((tx, { actor }) => removeMember(tx, { organizationId, userId, actor }));
        printer.record({ ...toRow(removed), removed: true });
      }),
    );
  commands
    .command('list')
    .description('list organization members, latest first')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .action(({ organization }: { organization: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const { id: organizationId } = await getOrganization(sql, organization);
        const members = await listMembers(sql, { organizationId });
        printer.table(
          members.map((member) => ({
            id: member.id,
            userId: member.user_id,
            email: member.email,
            level: member.level,
            role: levelName(member.level),
            joinedAt: member.joined_at,
          })),
        );
      }),
    );
}

function toRow(membership: Awaited<ReturnType<typeof addMember>>): Row {
  return {
    id: membership.id,
    organizationId: membership.organization_id,
    userId: membership.user_id,
    level: membership.level,
    role: levelName(membership.level),
    joinedAt: membership.joined_at,
  };
}

interface AcceptOptions {
  firstName?: string;
  lastName?: string;
}

export function addInviteCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('invite').description('manage invites to an organization');
  commands
    .command('list')
    .description('list pending invites, newest first')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
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
            expiresAt: getInviteExpiry(invite),
          })),
        );
      }),
    );
  commands
    .command('accept')
    .description(
      'accept an invite on behalf of the invited person. If the person has no account yet, the command creates an account and a personal API key',
    )
    .argument('<id>', 'invite ID (UUID), as shown by `invite list`')
    .option('--first-name <name>', 'first name for a new account')
    .option('--last-name <name>', 'last name for a new account')
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
        if (personalApiKey !== null) printer.note('Save the personal API key now. It will not be shown again.');
      }),
    );
  commands
    .command('revoke')
    .description('revoke an invite')
    .argument('<id>', 'invite ID (UUID), as shown by `invite list`')
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const revoked = await change((tx, { actor }) => revokeInvite(tx, { inviteId: id, actor }));
        printer.record({ id: revoked.id, email: revoked.target_email, revoked: true });
      }),
    );
}

/** Accepts an invite for the invited user. The operator needs neither the secret from the email nor an API key. */
async function acceptForPerson(tx: Transaction, inviteId: string, options: AcceptOptions & { actor: Actor }) {
  const now = new Date();
  const { email_key: email } = await findInvite(tx, inviteId);
  const user = await findUser(tx, { email });
  if (!user) return signUpByInvite(tx, inviteId, { ...options, now, isEmailVerified: false });
  const accepted = await acceptInvite(tx, inviteId, { now, chooseUser: async () => user, actor: options.actor });
  return { ...accepted, personalApiKey: null };
}

/** Creates the option `--level member|administrator|owner`, which also accepts the API's numbers. */
function levelOption(): Option {
  return new Option('--level <level>', 'membership level: member (1), administrator (8) or owner (15)').argParser(
    (text): MembershipLevel => {
      const level = Object.entries(membershipLevels).find(([name, value]) => text === name || text === String(value));
      if (!level) throw new InvalidArgumentError('Must be member, administrator or owner.');
      return level[1];
    },
  );
}

function levelName(level: number): string {
  return Object.entries(membershipLevels).find(([, value]) => value === level)?.[0] ?? String(level);
}
