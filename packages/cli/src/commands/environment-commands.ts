// `millrace environment …`: commands that manage a project's environments and their keys.

import {
  changeEnvironment,
  createEnvironment,
  createProjectSecretKey,
  getEnvironment,
  listEnvironments,
  listProjectSecretKeys,
  type ProjectSecretKey,
  type RolledSecretKey,
  removeEnvironment,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '@millrace/accounts';
import { type Command, Option } from 'commander';
import { parseId, requireConfirmation } from '../options.ts';
import type { Printer, Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

interface NewEnvironmentOptions {
  project: number;
  name: string;
  timezone: string;
  anonymizeIps?: boolean;
}

interface Chosen {
  environment: number;
}

export function addEnvironmentCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('environment').description('manage project environments and their API keys');
  commands
    .command('create')
    .description('add an environment with its own API key')
    .requiredOption('--project <id>', 'project ID', parseId)
    .option('--name <name>', '1 to 200 characters', 'Default project')
    .option('--timezone <name>', 'time zone, such as Europe/Berlin', 'UTC')
    .option('--anonymize-ips', 'do not store client IP addresses')
    .action(({ project, name, timezone, anonymizeIps }: NewEnvironmentOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const settings = { name, timezone, anonymize_ips: anonymizeIps === true };
        const environment = await change((tx, { actor }) =>
          createEnvironment(tx, { projectId: project, settings, actor }),
        );
        printer.record(toRow(environment));
      }),
    );
  commands
    .command('list')
    .description('list the environments in a project, sorted by ID. The first one has the same ID as the project')
    .requiredOption('--project <id>', 'project ID', parseId)
    .action(({ project }: { project: number }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listEnvironments(sql, { projectId: project })).map(toRow));
      }),
    );
  commands
    .command('show')
    .description('show an environment')
    .requiredOption('--environment <id>', 'environment ID', parseId)
    .action(({ environment }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) =>
        printer.record(toRow(await getEnvironment(sql, environment))),
      ),
    );
  commands
    .command('rename')
    .description('rename an environment. The project keeps its name')
    .requiredOption('--environment <id>', 'environment ID', parseId)
    .requiredOption('--name <name>', '1 to 200 characters')
    .action(({ environment: environmentId, name }: Chosen & { name: string }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const settings = { name };
        const { after } = await change((tx, { actor }) => changeEnvironment(tx, { environmentId, settings, actor }));
        printer.record(toRow(after));
      }),
    );
  commands
    .command('delete')
    .description('delete an environment and its API key immediately, and its data in the background')
    .requiredOption('--environment <id>', 'environment ID', parseId)
    .option('--yes', 'confirm the deletion')
    .action(({ environment: environmentId, yes }: Chosen & { yes?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { name, project_id: projectId } = await getEnvironment(sql, environmentId);
        const others = (await listEnvironments(sql, { projectId })).length - 1;
        requireConfirmation(yes, `the environment "${name}"${others > 0 ? '' : ', its project'} and its data`);
        await change((tx, { actor }) => removeEnvironment(tx, { environmentId, actor }));
        printer.record({ environmentId, projectId, name, deleted: true });
      }),
    );
  addSecretKeyCommands(commands, terminal);
}

function toRow(environment: Awaited<ReturnType<typeof createEnvironment>>): Row {
  return {
    environmentId: environment.id,
    projectId: environment.project_id,
    name: environment.name,
    timezone: environment.timezone,
    projectApiKey: environment.api_token,
    createdAt: environment.created_at,
  };
}

/** Adds `environment secret-key …`, which manages the keys that server SDKs use to read flag definitions. */
function addSecretKeyCommands(environment: Command, terminal: Terminal): void {
  const commands = environment
    .command('secret-key')
    .description('manage secret keys, which servers use to read flag definitions');
  const add = (name: string, description: string) =>
    commands.command(name).description(description).requiredOption('--environment <id>', 'environment ID', parseId);

  add('create', 'create a secret key for an environment. The key is shown only once').action(
    ({ environment: environmentId }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const made = await change((tx, { actor }) => createProjectSecretKey(tx, { environmentId, actor }));
        printOnce(printer, environmentId, made);
      }),
  );
  add(
    'roll',
    'replace the secret key. The new key is shown only once. The previous key stays valid as the backup key',
  ).action(({ environment: environmentId }: Chosen, command: Command) =>
    withSession(command, terminal, async ({ change, printer }) => {
      const made = await change((tx, { actor }) => rollProjectSecretKey(tx, { environmentId, actor }));
      printOnce(printer, environmentId, made);
    }),
  );
  add('revoke', "revoke an environment's secret keys, or only one of them. Revoked keys stop working immediately")
    .addOption(new Option('--slot <slot>', 'only the key in this slot').choices(['primary', 'backup']))
    .action(({ environment: environmentId, slot }: Chosen & { slot?: 'primary' | 'backup' }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const slots = slot === undefined ? (['primary', 'backup'] as const) : [slot];
        const revoked = await change((tx, { actor }) => revokeProjectSecretKeys(tx, { environmentId, slots, actor }));
        printer.record({ environmentId, revoked });
      }),
    );
  add('show', "list an environment's secret keys. Their values are not shown").action(
    ({ environment: environmentId }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) =>
        printer.table((await listProjectSecretKeys(sql, environmentId)).map(toSecretKeyRow)),
      ),
  );
}

function printOnce(printer: Printer, environmentId: number, { keys, value }: RolledSecretKey): void {
  const former = keys.find(({ slot }) => slot === 'backup');
  printer.record({ environmentId, secretKey: value, backup: former?.mask_value ?? null });
  printer.note('Save the secret key now. It will not be shown again.');
}

function toSecretKeyRow({ slot, mask_value: maskValue, created_at: createdAt }: ProjectSecretKey): Row {
  return { slot, maskValue, createdAt };
}
