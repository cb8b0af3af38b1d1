import { createUser, getOrganization, listUsers, type NewUser } from '@millrace/db';
import type { Command } from 'commander';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export function addUserCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('user').description('users');
  commands
    .command('create')
    .description('create a user; make it a member of an organization with `member add`')
    .requiredOption('--email <address>', 'e-mail address, unique in the installation')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .action((user: NewUser, command: Command) =>
      withSession(command, terminal, async ({ prisma, printer }) => {
        printer.record(toRow(await createUser(prisma, user)));
      }),
    );
  commands
    .command('list')
    .description('list users by id')
    .option('--organization <id>', 'only members of this organization')
    .action(({ organization }: { organization?: string }, command: Command) =>
      withSession(command, terminal, async ({ prisma, printer }) => {
        const filter =
          organization === undefined ? {} : { organizationId: (await getOrganization(prisma, organization)).id };
        printer.table((await listUsers(prisma, filter)).map(toRow));
      }),
    );
}

function toRow(user: Awaited<ReturnType<typeof createUser>>): Row {
  return {
    id: user.id,
    uuid: user.uuid,
    email: user.email,
    firstName: user.first_name,
    lastName: user.last_name,
    isActive: user.is_active,
    createdAt: user.created_at,
  };
}
