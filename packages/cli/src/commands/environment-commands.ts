import { createEnvironment, listEnvironments } from '@millrace/accounts';
import type { Command } from 'commander';
import { parseId } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface NewEnvironmentOptions {
  project: number;
  name: string;
  timezone: string;
  anonymizeIps?: boolean;
}

export function addEnvironmentCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('environment').description('environments of a project and their API keys');
  commands
    .command('create')
    .description('add an environment with an API key of its own')
    .requiredOption('--project <id>', "the project's number", parseId)
    .option('--name <name>', '1 to 200 characters', 'Default project')
    .option('--timezone <name>', 'time zone, like Europe/Berlin', 'UTC')
    .option('--anonymize-ips', 'do not store addresses of clients')
    .action(({ project, name, timezone, anonymizeIps }: NewEnvironmentOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer, announce }) => {
        const settings = { name, timezone, anonymize_ips: anonymizeIps === true };
        const environment = await change((tx, { actor }) =>
          createEnvironment(tx, { projectId: project, settings, actor }),
        );
        printer.record(toRow(environment));
        // A gateway may have learnt that there is no such key.
        await announce([environment.api_token]);
      }),
    );
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
