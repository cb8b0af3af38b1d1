import {
  createPersonalApiKey,
  listPersonalApiKeys,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
} from '@millrace/accounts';
import type { Command } from 'commander';
import { parseExpiry, parseIds, parseList, resolveUserId } from '../option-values.ts';
import type { Printer, Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface NewKeyOptions {
  user: string;
  label: string;
  scopes: string[];
  organizations?: string[];
  projects?: number[];
  expires?: Date;
}

export function addKeyCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('key').description('personal API keys');
  commands
    .command('create')
    .description('create a key; it is shown once')
    .requiredOption('--user <id or address>', "the user's id or e-mail address")
    .requiredOption('--label <text>', 'what it is for, 1 to 40 characters')
    .requiredOption('--scopes <list>', 'like project:read,event:read; * for everything', parseList)
    .option('--organizations <list>', 'UUIDs of the organizations it is limited to', parseList)
    .option('--projects <list>', 'ids of the projects it is limited to', parseIds)
    .option('--expires <when>', 'a day, a time, or days from now like 30d (default: never)', parseExpiry)
    .action((options: NewKeyOptions, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const userId = await resolveUserId(sql, options.user);
        const created = await change((tx, { actor }) =>
          createPersonalApiKey(tx, {
            userId,
            actor,
            label: options.label,
            scopes: options.scopes,
            scopedOrganizations: options.organizations ?? [],
            scopedTeams: options.projects ?? [],
            expiresAt: options.expires ?? null,
          }),
        );
        printOnce(printer, created);
      }),
    );
  commands
    .command('list')
    .description('list keys, the newest first, without their values')
    .option('--user <id or address>', 'only those of this user')
    .action(({ user }: { user?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter = user === undefined ? {} : { userId: await resolveUserId(sql, user) };
        printer.table((await listPersonalApiKeys(sql, filter)).map(toRow));
      }),
    );
  commands
    .command('revoke')
    .description('remove a key; it stops working at once')
    .argument('<id>', "the key's id, as `key list` shows it")
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const revoked = await change((tx, { actor }) => revokePersonalApiKey(tx, { id, actor }));
        printer.record({ id: revoked.id, label: revoked.label, revoked: true });
      }),
    );
  commands
    .command('roll')
    .description('give a key a new value, shown once; the old one stops working at once')
    .argument('<id>', "the key's id, as `key list` shows it")
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const rolled = await change((tx, { actor }) => rollPersonalApiKey(tx, { id, actor }));
        printOnce(printer, rolled);
      }),
    );
}

function printOnce(printer: Printer, { key, value }: PersonalApiKeyWithValue): void {
  printer.record({ ...toRow(key), personalApiKey: value });
  printer.note('Keep the personal API key: it is not shown again.');
}

function toRow(key: PersonalApiKeyWithValue['key']): Row {
  return {
    id: key.id,
    userId: key.user_id,
    label: key.label,
    maskValue: key.mask_value,
    scopes: key.scopes,
    organizations: key.scoped_organizations,
    projects: key.scoped_teams,
    createdAt: key.created_at,
    lastUsedAt: key.last_used_at,
    expiresAt: key.expires_at,
  };
}
