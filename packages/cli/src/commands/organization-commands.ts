// `millrace org …` and `millrace plan …`: commands that manage organizations and their plan limits.

import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
  listProjects,
  removeOrganization,
  setOrganizationPlan,
} from '@millrace/accounts';
import {
  findPlanFeature,
  isPlanFeature,
  listProductFeatures,
  type PlanFeature,
  type PlanLimits,
  type PlanName,
  planFeatures,
  planNames,
  readPlanLimits,
} from '@millrace/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import { planOption, requireConfirmation } from '../options.ts';
import type { Row, Terminal } from '../output.ts';
import { withSession } from '../session.ts';

interface Chosen {
  organization: string;
}

export function addOrganizationCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('org').description('manage organizations');
  commands
    .command('create')
    .description('create an organization without members')
    .requiredOption('--name <name>', '1 to 64 characters')
    .addOption(planOption().default('full'))
    .action(({ name, plan }: { name: string; plan: PlanName }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const created = await change((tx, { actor }) =>
          createOrganization(tx, { name, features: listProductFeatures(plan), actor }),
        );
        printer.record(toRow(created));
      }),
    );
  commands
    .command('list')
    .description('list all organizations, oldest first')
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.table((await listOrganizations(sql)).map(toRow));
      }),
    );
  commands
    .command('show')
    .description('show an organization, its project IDs and the number of members')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
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
  commands
    .command('rename')
    .description('rename an organization')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .requiredOption('--name <name>', '1 to 64 characters')
    .action(({ organization: organizationId, name }: Chosen & { name: string }, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const changes = { name };
        printer.record(
          toRow(await change((tx, { actor }) => changeOrganization(tx, { organizationId, changes, actor }))),
        );
      }),
    );
  commands
    .command('delete')
    .description('delete an organization and its projects immediately, and their data in the background')
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .option('--yes', 'confirm the deletion')
    .action(({ organization, yes }: Chosen & { yes?: boolean }, command: Command) =>
      withSession(command, terminal, async ({ sql, change, printer }) => {
        const { id: organizationId, name } = await getOrganization(sql, organization);
        requireConfirmation(yes, `the organization "${name}" with all its projects and their data`);
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

interface NewPlanOptions {
  organization: string;
  plan: PlanName;
  eventsPerMonth?: number | 'unlimited';
  eventsPerSecond?: number | 'unlimited';
  flagRequestsPerMonth?: number | 'unlimited';
}

export function addPlanCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('plan').description('manage organization plans');
  commands
    .command('show')
    .description("show an organization's plan and its features")
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .action(({ organization }: { organization: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.record(toPlanRow(await getOrganization(sql, organization)));
      }),
    );
  commands
    .command('set')
    .description("change an organization's plan")
    .requiredOption('--organization <id>', 'organization ID (UUID)')
    .addOption(planOption().makeOptionMandatory())
    .option(
      '--events-per-month <n>',
      'maximum number of stored events per project API key, or unlimited (default: unchanged)',
      parseLimit,
    )
    .option(
      '--events-per-second <n>',
      'maximum number of accepted events per project API key, or unlimited (default: unchanged)',
      parseLimit,
    )
    .option(
      '--flag-requests-per-month <n>',
      'maximum number of flag requests per project API key, or unlimited (default: unchanged)',
      parseLimit,
    )
    .action(({ organization, plan, ...limits }: NewPlanOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const changed = await change((tx, { actor }) =>
          setOrganizationPlan(tx, organization, { plan, limits: toLimits(limits), actor }),
        );
        printer.record(toPlanRow(changed));
      }),
    );
}

const limitNames = ['eventsPerMonth', 'eventsPerSecond', 'flagRequestsPerMonth'] as const;

function toLimits(options: Omit<NewPlanOptions, 'organization' | 'plan'>) {
  const limits: Partial<PlanLimits> = {};
  for (const name of limitNames) {
    const limit = options[name];
    if (limit !== undefined) limits[name] = limit === 'unlimited' ? null : limit;
  }
  return limits;
}

function toPlanRow(organization: Awaited<ReturnType<typeof getOrganization>>): Row {
  const stored = organization.available_product_features;
  return {
    organizationId: organization.id,
    plan: planOf(stored),
    features: featuresOf(stored),
    ...readPlanLimits(stored),
  };
}

/** Returns the plan that has exactly these features, or `custom` if no plan matches. */
function planOf(availableProductFeatures: unknown): PlanName | 'custom' {
  const features = featuresOf(availableProductFeatures);
  const hasFeaturesOf = (plan: PlanName) => {
    const wanted = listProductFeatures(plan).map(({ key }) => key);
    return wanted.length === features.length && wanted.filter(isPlanFeature).every((key) => features.includes(key));
  };
  return planNames.find(hasFeaturesOf) ?? 'custom';
}

function featuresOf(availableProductFeatures: unknown): PlanFeature[] {
  return planFeatures.filter((key) => findPlanFeature(availableProductFeatures, key) !== null);
}

/** Parses a whole number or `unlimited`. Never returns null, which Commander would treat as a missing value. */
function parseLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Must be a whole number or unlimited.');
  return Number(text);
}
