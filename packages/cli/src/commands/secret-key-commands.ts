import {
  createProjectSecretKey,
  listProjectSecretKeys,
  type ProjectSecretKey,
  type RolledSecretKey,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '@millrace/accounts';
import { type Command, Option } from 'commander';
import { parseId } from '../option-values.ts';
import type { Printer, Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface Chosen {
  environment: number;
}

/** `environment secret-key …`: the keys with which servers read flag definitions. */
export function addSecretKeyCommands(environment: Command, terminal: Terminal): void {
  const commands = environment
    .command('secret-key')
    .description('secret keys, with which servers read flag definitions');
  const add = (name: string, description: string) =>
    commands
      .command(name)
      .description(description)
      .requiredOption('--environment <id>', "the environment's number", parseId);

  add('create', 'create the secret key of an environment; it is shown once').action(
    ({ environment: environmentId }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const made = await change((tx, { actor }) => createProjectSecretKey(tx, { environmentId, actor }));
        printOnce(printer, environmentId, made);
      }),
  );
  add('roll', 'replace the secret key, shown once; the former one stays valid as the backup').action(
    ({ environment: environmentId }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const made = await change((tx, { actor }) => rollProjectSecretKey(tx, { environmentId, actor }));
        printOnce(printer, environmentId, made);
      }),
  );
  add('revoke', 'remove the secret keys of an environment, or one of them; they stop working at once')
    .addOption(new Option('--slot <slot>', 'only this one').choices(['primary', 'backup']))
    .action(({ environment: environmentId, slot }: Chosen & { slot?: 'primary' | 'backup' }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const slots = slot === undefined ? (['primary', 'backup'] as const) : [slot];
        const revoked = await change((tx, { actor }) => revokeProjectSecretKeys(tx, { environmentId, slots, actor }));
        printer.record({ environmentId, revoked });
      }),
    );
  add('show', 'show the secret keys of an environment, without their values').action(
    ({ environment: environmentId }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) =>
        printer.table((await listProjectSecretKeys(sql, environmentId)).map(toRow)),
      ),
  );
}

function printOnce(printer: Printer, environmentId: number, { keys, value }: RolledSecretKey): void {
  const former = keys.find(({ slot }) => slot === 'backup');
  printer.record({ environmentId, secretKey: value, backup: former?.mask_value ?? null });
  printer.note('Keep the secret key: it is not shown again.');
}

function toRow({ slot, mask_value: maskValue, created_at: createdAt }: ProjectSecretKey): Row {
  return { slot, maskValue, createdAt };
}
