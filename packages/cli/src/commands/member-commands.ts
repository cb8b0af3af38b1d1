import { addMember, getOrganization, listMembers, removeMember, setMemberLevel } from '@millrace/accounts';
import { type MembershipLevel, membershipLevels } from '@millrace/contracts';
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
        const { organization: organizationId, level } = options;
        const added = await change((tx, { actor }) => addMember(tx, { organizationId, userId, level, actor }));
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
        const { organization: organizationId, level } = options;
        const changed = await change((tx, { actor }) => setMemberLevel(tx, { organizationId, userId, level, actor }));
        printer.record(toRow(changed));
      }),
    );
  commands
    .command('remove')
    .description('remove a user from an organization; the account and its keys stay, open invites are withdrawn')
    .requiredOption('--organization <id>', "the organization's UUID")
    .requiredOption('--user <id or address>', "the user's id or e-mail address")
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
