import {
  createUser,
  getOrganization,
  getUser,
  listUsers,
  type NewUser,
  setUserActive,
  withdrawInvites,
} from '@millrace/accounts';
import type { Command } from 'commander';
import { resolveUserId } from '../option-values.ts';
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
      withSession(command, terminal, async ({ change, printer }) => {
        const created = await change(async (tx, { record }) => {
          const made = await createUser(tx, user);
          await record({ ...recordOf(made), activity: 'created' });
          return made;
        });
        printer.record(toRow(created));
      }),
    );
  commands
    .command('list')
    .description('list users by id')
    .option('--organization <id>', 'only members of this organization')
    .action(({ organization }: { organization?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter =
          organization === undefined ? {} : { organizationId: (await getOrganization(sql, organization)).id };
        printer.table((await listUsers(sql, filter)).map(toRow));
      }),
    );
  for (const [name, isActive, description] of [
    ['deactivate', false, 'lock a user out: keys stop working with the next request'],
    ['activate', true, 'let a user in again'],
  ] as const) {
    commands
      .command(name)
      .description(description)
      .argument('<id or address>', "the user's id or e-mail address")
      .action((user: string, _options: object, command: Command) =>
        withSession(command, terminal, async ({ sql, change, printer }) => {
          const id = await resolveUserId(sql, user);
          const changed = await change(async (tx, { actor, record }) => {
            const before = await getUser(tx, { id });
            const after = await setUserActive(tx, id, isActive);
            const sides = { before: { is_active: before.is_active }, after: { is_active: after.is_active } };
            await record({ ...recordOf(after), activity: 'updated', change: sides });
            if (!isActive) await withdrawInvites(tx, { organizationId: null, userId: id, level: null, actor });
            return after;
          });
          printer.record(toRow(changed));
        }),
      );
  }
}

function recordOf({ uuid, email }: { uuid: string; email: string }) {
  return { organizationId: null, scope: 'User' as const, itemId: uuid, name: email };
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
