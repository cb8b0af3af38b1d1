import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
  listProjects,
  removeOrganization,
} from '@millrace/accounts';
import { type PlanName, productFeaturesOf } from '@millrace/contracts';
import type { Command } from 'commander';
import { planOption } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { planOf } from './plan-commands.ts';
import { requireYes } from './require-yes.ts';

interface Chosen {
  organization: string;
}

export function addOrganizationCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('org').description('organizations');
  addCreate(commands, terminal);
  addList(commands, terminal);
  addShow(commands, terminal);
  addRename(commands, terminal);
  addDelete(commands, terminal);
}

function addCreate(commands: Command, terminal: Terminal): void {
  commands
    .command('create')
    .description('create an organization; nobody is a member yet')
    .requiredOption('--name <name>', '1 to 64 characters')
    .addOption(planOption().default('full'))
    .action(({ name, plan }: { name: string; plan: PlanName }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const created = await change((tx, { actor }) =>
          createOrganization(tx, { name, features: productFeaturesOf(plan), actor }),
        );
        printer.record(toRow(created));
      }),
    );
}

function addList(commands: Command, terminal: Terminal): void {
  commands
    .command('list')
    .description('list all organizations, the oldest first')
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listOrganizations(sql)).map(toRow));
      }),
    );
}

function addShow(commands: Command, terminal: Terminal): void {
  commands
    .command('show')
    .description('show an organization, the ids of its projects and how many members it has')
    .requiredOption('--organization <id>', "the organization's UUID")
    .action(({ organization }: Chosen, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        const found = await getOrganization(sql, organization);
        const projects = await listProjects(sql, { organizationId: found.id });
        const members = await listMembers(sql, { organizationId: found.id });
        printer.record({
          ...toRow(found),
          slug: found.slug,
          projects: projects.map(({ id }) => id),
          members: members.length,
        });
      }),
    );
}

function addRename(commands: Command, terminal: Terminal): void {
  commands
    .command('rename')
    .description('give an organization another name')
    .requiredOption('--organization <id>', "the organization's UUID")
    .requiredOption('--name <name>', '1 to 64 characters')
    .action(({ organization: organizationId, name }: Chosen & { name: string }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const changes = { name };
        printer.record(
          toRow(await change((tx, { actor }) => changeOrganization(tx, { organizationId, changes, actor }))),
        );
      }),
    );
}

function addDelete(commands: Command, terminal: Terminal): void {
  commands
    .command('delete')
    .description('delete an organization with its projects at once, and their data in the background')
    .requiredOption('--organization <id>', "the organization's UUID")
    .option('--yes', 'confirm the deletion')
    .action(({ organization, yes }: Chosen & { yes?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { id: organizationId, name } = await getOrganization(sql, organization);
        requireYes(yes, `the organization "${name}" with all its projects and their data`);
        await change((tx, { actor }) => removeOrganization(tx, { organizationId, actor }));
        printer.record({ id: organizationId, name, deleted: true });
      }),
    );
}

function toRow(organization: Awaited<ReturnType<typeof createOrganization>>): Row {
  return {
    id: organization.id,
    name: organization.name,
    plan: planOf(organization.available_product_features),
    createdAt: organization.created_at,
  };
}
