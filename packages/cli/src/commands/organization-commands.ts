import { createOrganization, listOrganizations } from '@millrace/accounts';
import { type PlanName, productFeaturesOf } from '@millrace/contracts';
import type { Command } from 'commander';
import { planOption } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { planOf } from './plan-commands.ts';

export function addOrganizationCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('org').description('organizations');
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
  commands
    .command('list')
    .description('list all organizations, the oldest first')
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listOrganizations(sql)).map(toRow));
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
