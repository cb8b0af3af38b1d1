import { type MembershipLevel, membershipLevels } from '@millrace/contracts';
import { addMember, getOrganization, listMembers } from '@millrace/db';
import type { Command } from 'commander';
import { levelName, levelOption, resolveUserId } from '../option-values.ts';
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
      withSession(command, terminal, async ({ prisma, printer }) => {
        const userId = await resolveUserId(prisma, options.user);
        const added = await addMember(prisma, { organizationId: options.organization, userId, level: options.level });
        printer.record({
          id: added.id,
          organizationId: added.organization_id,
          userId,
          level: added.level,
          role: levelName(added.level),
          joinedAt: added.joined_at,
        });
      }),
    );
  commands
    .command('list')
    .description('list the members of an organization, the latest first')
    .requiredOption('--organization <id>', "the organization's UUID")
    .action(({ organization }: { organization: string }, command: Command) =>
      withSession(command, terminal, async ({ prisma, printer }) => {
        const { id: organizationId } = await getOrganization(prisma, organization);
        const members = await listMembers(prisma, { organizationId });
        printer.table(
          members.map((member) => ({
            id: member.id,
            userId: member.user_id,
            email: member.user.email,
            level: member.level,
            role: levelName(member.level),
            joinedAt: member.joined_at,
          })),
        );
      }),
    );
}
