import {
  changeProject,
  createProject,
  getOrganization,
  getProject,
  listProjects,
  removeProject,
} from '@millrace/accounts';
import type { Command } from 'commander';
import { parseId, requireConfirmation } from '../options.ts';
import type { Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

interface NewProjectOptions {
  organization: string;
  name: string;
  timezone: string;
  anonymizeIps?: boolean;
}

interface Chosen {
  project: number;
}

export function addProjectCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('project').description('manage projects and their API keys');
  commands
    .command('create')
    .description('create a project with its first environment and API key')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .option('--name <name>', '1 to 200 characters', 'Default project')
    .option('--timezone <name>', 'time zone, such as Europe/Berlin', 'UTC')
    .option('--anonymize-ips', 'do not store client IP addresses')
    .action(({ organization, name, timezone, anonymizeIps }: NewProjectOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const settings = { name, timezone, anonymize_ips: anonymizeIps === true };
        const { project, environment } = await change((tx, { actor }) =>
          createProject(tx, { organizationId: organization, settings, actor }),
        );
        printer.record(toRow(project, environment));
      }),
    );
  commands
    .command('list')
    .description('list projects, sorted by ID, with one line per environment')
    .option('--organization <id>', 'only projects of this organization')
    .action(({ organization }: { organization?: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const filter =
          organization === undefined ? {} : { organizationId: (await getOrganization(sql, organization)).id };
        const projects = await listProjects(sql, filter);
        printer.table(projects.flatMap((project) => project.environments.map((each) => toRow(project, each))));
      }),
    );
  commands
    .command('show')
    .description('show a project and its environment IDs')
    .requiredOption('--project <id>', 'project ID', parseId)
    .action(({ project }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) =>
        printer.record(toShown(await getProject(sql, project))),
      ),
    );
  commands
    .command('rename')
    .description('rename a project and its first environment')
    .requiredOption('--project <id>', 'project ID', parseId)
    .requiredOption('--name <name>', '1 to 200 characters')
    .action(({ project: projectId, name }: Chosen & { name: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const settings = { name };
        await change((tx, { actor }) => changeProject(tx, { projectId, settings, actor }));
        printer.record(toShown(await getProject(sql, projectId)));
      }),
    );
  commands
    .command('delete')
    .description('delete a project with its environments and API keys immediately, and their data in the background')
    .requiredOption('--project <id>', 'project ID', parseId)
    .option('--yes', 'confirm the deletion')
    .action(({ project: projectId, yes }: Chosen & { yes?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { name } = await getProject(sql, projectId);
        requireConfirmation(yes, `the project "${name}" with all its environments and their data`);
        const { environments } = await change((tx, { actor }) => removeProject(tx, { projectId, actor }));
        printer.record({ projectId, name, environments: environments.map(({ id }) => id), deleted: true });
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

/** Converts a project to an output row with the API key of its first environment. */
function toShown(project: Awaited<ReturnType<typeof getProject>>): Row {
  return {
    projectId: project.id,
    organizationId: project.organization_id,
    name: project.name,
    productDescription: project.product_description,
    environments: project.environments.map(({ id }) => id),
    projectApiKey: project.environments[0]?.api_token ?? null,
    createdAt: project.created_at,
  };
}
