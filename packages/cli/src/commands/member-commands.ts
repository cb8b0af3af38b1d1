import {
  addMember,
  getOrganization,
  getUser,
  listMembers,
  removeMember,
  setMemberLevel,
  withdrawInvites,
} from '@millrace/accounts';
import { type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { Command } from 'commander';
import { levelName, levelOption, resolveUserId } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface NewMemberOptions {
  organization: string;
  user: string;
  level: MembershipLevel;
}

export function addMemberCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('member').description('members of an organization');
  commands
    .command('add')
    .description('make a user a member')
    .requiredOption('--organization <id>', "the organization's UUID")
    .requiredOption('--user <id or address>', "the user's id or e-mail address")
    .addOption(levelOption().default(membershipLevels.member, 'member'))
    .action((options: NewMemberOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const added = await change(async (tx, { record }) => {
          const made = await addMember(tx, { organizationId: options.organization, userId, level: options.level });
          await record({ ...(await recordOf(tx, made)), activity: 'created' });
          return made;
        });
        printer.record(toRow(added));
      }),
    );
  commands
    .command('set-level')
    .description("change a member's level")
    .requiredOption('--organization <id>', "the organization's UUID")
    .requiredOption('--user <id or address>', "the user's id or e-mail address")
    .addOption(levelOption().makeOptionMandatory())
    .action((options: NewMemberOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const input = { organizationId: options.organization, userId, level: options.level };
        const changed = await change(async (tx, { actor, record }) => {
          const { before, after } = await setMemberLevel(tx, input);
          const change = { before: { level: before.level }, after: { level: after.level } };
          await record({ ...(await recordOf(tx, after)), activity: 'updated', change });
          if (after.level < before.level) {
            await withdrawInvites(tx, { organizationId: after.organization_id, userId, level: after.level, actor });
          }
          return after;
        });
        printer.record(toRow(changed));
      }),
    );
  commands
    .command('remove')
    .description('take a user out of an organization; the account and its keys stay, invites nobody has accepted go')
    .requiredOption('--organization <id>', "the organization's UUID")
    .requiredOption('--user <id or address>', "the user's id or e-mail address")
    .action((options: Pick<NewMemberOptions, 'organization' | 'user'>, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const input = { organizationId: options.organization, userId };
        const removed = await change(async (tx, { actor, record }) => {
          const gone = await removeMember(tx, input);
          await record({ ...(await recordOf(tx, gone)), activity: 'deleted' });
          await withdrawInvites(tx, { organizationId: gone.organization_id, userId, level: null, actor });
          return gone;
        });
        printer.record({ ...toRow(removed), removed: true });
      }),
    );
  commands
    .command('list')
    .description('list the members of an organization, the latest first')
    .requiredOption('--organization <id>', "the organization's UUID")
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

async function recordOf(
  tx: Sql,
  { id, organization_id: organizationId, user_id: userId }: { id: string; organization_id: string; user_id: number },
) {
  const { email } = await getUser(tx, { id: userId });
  return { organizationId, scope: 'OrganizationMembership' as const, itemId: id, name: email };
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
