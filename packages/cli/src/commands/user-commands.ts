// `millrace user …` and `millrace key …`: commands that manage users and their personal API keys.

import {
  createPersonalApiKey,
  createUser,
  getOrganization,
  getUser,
  listPersonalApiKeys,
  listUsers,
  type NewUser,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
  setUserActive,
  withdrawInvites,
} from '@millrace/accounts';
import { type Command, InvalidArgumentError } from 'commander';
import { resolveUserId } from '../options.ts';
import type { Printer, Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

export function addUserCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('user').description('manage users');
  commands
    .command('create')
    .description('create a user. Use `member add` to add the user to an organization')
    .requiredOption('--email <address>', 'email address, unique in the installation')
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
    .description('list users, sorted by ID')
    .option('--organization <id>', 'only members of this organization')
    .action(({ organization }: { organization?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter =
          organization === undefined ? {} : { organizationId: (await getOrganization(sql, organization)).id };
        printer.table((await listUsers(sql, filter)).map(toRow));
      }),
    );
  for (const [name, isActive, description] of [
    ['deactivate', false, "deactivate a user. The user's keys stop working with the next request"],
    ['activate', true, 'reactivate a user'],
  ] as const) {
    commands
      .command(name)
      .description(description)
      .argument('<id or address>', 'user ID or email address')
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

interface NewKeyOptions {
  user: string;
  label: string;
  scopes: string[];
  organizations?: string[];
  projects?: number[];
  expires?: Date;
}

export function addKeyCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('key').description('manage personal API keys');
  commands
    .command('create')
    .description('create a personal API key. It is shown only once')
    .requiredOption('--user <id or address>', 'user ID or email address')
    .requiredOption('--label <text>', 'label that describes the key, 1 to 40 characters')
    .requiredOption('--scopes <list>', 'scopes such as project:read,event:read, or * for all', parseList)
    .option('--organizations <list>', 'IDs (UUIDs) of the organizations that the key is limited to', parseList)
    .option('--projects <list>', 'IDs of the projects that the key is limited to', parseIds)
    .option('--expires <when>', 'a date, a time, or days from now such as 30d (default: never)', parseExpiry)
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
            scopedEnvironments: options.projects ?? [],
            expiresAt: options.expires ?? null,
          }),
        );
        printOnce(printer, created);
      }),
    );
  commands
    .command('list')
    .description('list personal API keys without their values, newest first')
    .option('--user <id or address>', 'only keys of this user')
    .action(({ user }: { user?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter = user === undefined ? {} : { userId: await resolveUserId(sql, user) };
        printer.table((await listPersonalApiKeys(sql, filter)).map(toKeyRow));
      }),
    );
  commands
    .command('revoke')
    .description('revoke a personal API key. It stops working immediately')
    .argument('<id>', 'key ID, as shown by `key list`')
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const revoked = await change((tx, { actor }) => revokePersonalApiKey(tx, { id, actor }));
        printer.record({ id: revoked.id, label: revoked.label, revoked: true });
      }),
    );
  commands
    .command('roll')
    .description(
      'replace the value of a key. The new value is shown only once. The old value stops working immediately',
    )
    .argument('<id>', 'key ID, as shown by `key list`')
    .action((id: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const rolled = await change((tx, { actor }) => rollPersonalApiKey(tx, { id, actor }));
        printOnce(printer, rolled);
      }),
    );
}

function printOnce(printer: Printer, { key, value }: PersonalApiKeyWithValue): void {
  printer.record({ ...toKeyRow(key), personalApiKey: value });
  printer.note('Save the personal API key now. It will not be shown again.');
}

function toKeyRow(key: PersonalApiKeyWithValue['key']): Row {
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

function parseList(text: string): string[] {
  return text.split(',').flatMap((element) => element.trim() || []);
}

function parseIds(text: string): number[] {
  return parseList(text).map((element) => {
    if (!/^\d{1,10}$/.test(element)) throw new InvalidArgumentError('Must be numbers separated by commas.');
    return Number(element);
  });
}

/**
 * Parses a date (`2027-01-31`, meaning the end of that day in UTC), an ISO 8601 time, or a number of days from now
 * (`30d`).
 */
function parseExpiry(text: string): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date(Date.now() + Number(days) * 86_400_000);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const date = new Date(isDay ? `${text}T23:59:59.999Z` : text);
  if ((!isDay && !isTime) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError(
      'Must be a date such as 2027-01-31, a time such as 2027-01-31T12:00:00Z, or a number of days such as 30d.',
    );
  }
  return date;
}
