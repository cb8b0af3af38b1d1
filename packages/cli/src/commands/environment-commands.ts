import {
  changeEnvironment,
  createEnvironment,
  getEnvironment,
  listEnvironments,
  removeEnvironment,
} from '@millrace/accounts';
import type { Command } from 'commander';
import { parseId } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { requireYes } from './require-yes.ts';
import { addSecretKeyCommands } from './secret-key-commands.ts';

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
  const commands = program.command('environment').description('environments of a project and their API keys');
  addCreate(commands, terminal);
  addList(commands, terminal);
  addShow(commands, terminal);
  addRename(commands, terminal);
  addDelete(commands, terminal);
  addSecretKeyCommands(commands, terminal);
}

function addCreate(commands: Command, terminal: Terminal): void {
  commands
    .command('create')
    .description('add an environment with an API key of its own')
    .requiredOption('--project <id>', "the project's number", parseId)
    .option('--name <name>', '1 to 200 characters', 'Default project')
    .option('--timezone <name>', 'time zone, like Europe/Berlin', 'UTC')
    .option('--anonymize-ips', 'do not store addresses of clients')
    .action(({ project, name, timezone, anonymizeIps }: NewEnvironmentOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const settings = { name, timezone, anonymize_ips: anonymizeIps === true };
        const environment = await change((tx, { actor }) =>
          createEnvironment(tx, { projectId: project, settings, actor }),
        );
        printer.record(toRow(environment));
      }),
    );
}

function addList(commands: Command, terminal: Terminal): void {
  commands
    .command('list')
    .description('list the environments of a project by id; the first has the id of the project')
    .requiredOption('--project <id>', "the project's number", parseId)
    .action(({ project }: { project: number }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listEnvironments(sql, { projectId: project })).map(toRow));
      }),
    );
}

function addShow(commands: Command, terminal: Terminal): void {
  commands
    .command('show')
    .description('show an environment')
    .requiredOption('--environment <id>', "the environment's number", parseId)
    .action(({ environment }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) =>
        printer.record(toRow(await getEnvironment(sql, environment))),
      ),
    );
}

function addRename(commands: Command, terminal: Terminal): void {
  commands
    .command('rename')
    .description('give an environment another name; its project keeps its own')
    .requiredOption('--environment <id>', "the environment's number", parseId)
    .requiredOption('--name <name>', '1 to 200 characters')
    .action(({ environment: environmentId, name }: Chosen & { name: string }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const settings = { name };
        const { after } = await change((tx, { actor }) => changeEnvironment(tx, { environmentId, settings, actor }));
        printer.record(toRow(after));
      }),
    );
}

function addDelete(commands: Command, terminal: Terminal): void {
  commands
    .command('delete')
    .description('delete an environment and its API key at once, and its data in the background')
    .requiredOption('--environment <id>', "the environment's number", parseId)
    .option('--yes', 'confirm the deletion')
    .action(({ environment: environmentId, yes }: Chosen & { yes?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { name, project_id: projectId } = await getEnvironment(sql, environmentId);
        const others = (await listEnvironments(sql, { projectId })).length - 1;
        requireYes(yes, `the environment "${name}" with its data${others > 0 ? '' : ', and its project with it'}`);
        await change((tx, { actor }) => removeEnvironment(tx, { environmentId, actor }));
        printer.record({ environmentId, projectId, name, deleted: true });
      }),
    );
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
