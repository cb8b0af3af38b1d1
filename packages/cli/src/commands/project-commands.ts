import { createProject, getOrganization, listProjects } from '@millrace/accounts';
import type { Command } from 'commander';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface NewProjectOptions {
  organization: string;
  name: string;
  timezone: string;
  anonymizeIps?: boolean;
}

export function addProjectCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('project').description('projects and their API keys');
  commands
    .command('create')
    .description('create a project with its first environment and API key')
    .requiredOption('--organization <id>', "the organization's UUID")
    .option('--name <name>', '1 to 200 characters', 'Default project')
    .option('--timezone <name>', 'time zone, like Europe/Berlin', 'UTC')
    .option('--anonymize-ips', 'do not store addresses of clients')
    .action(({ organization, name, timezone, anonymizeIps }: NewProjectOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer, announce }) => {
        const settings = { name, timezone, anonymize_ips: anonymizeIps === true };
        const { project, environment } = await change((tx, { actor }) =>
          createProject(tx, { organizationId: organization, settings, actor }),
        );
        printer.record(toRow(project, environment));
        // A gateway may have learnt that there is no such key.
        await announce([environment.api_token]);
      }),
    );
  commands
    .command('list')
    .description('list projects by id, a line for each environment')
    .option('--organization <id>', 'only those of this organization')
    .action(({ organization }: { organization?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter =
          organization === undefined ? {} : { organizationId: (await getOrganization(sql, organization)).id };
        const projects = await listProjects(sql, filter);
        printer.table(projects.flatMap((project) => project.environments.map((each) => toRow(project, each))));
      }),
    );
}

type Created = Awaited<ReturnType<typeof createProject>>;

function toRow(project: Created['project'], environment: Created['environment']): Row {
  return {
    projectId: project.id,
    environmentId: environment.id,
    organizationId: project.organization_id,
    name: project.name,
    environmentName: environment.name,
    timezone: environment.timezone,
    projectApiKey: environment.api_token,
    createdAt: project.created_at,
  };
}
