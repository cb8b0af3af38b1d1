import { getOrganization, setOrganizationPlan } from '@millrace/accounts';
import {
  findPlanFeature,
  isPlanFeature,
  limitsOf,
  type PlanFeature,
  type PlanLimits,
  type PlanName,
  planFeatures,
  planNames,
  productFeaturesOf,
} from '@millrace/contracts';
import type { Command } from 'commander';
import { parseLimit, planOption } from '../option-values.ts';
import type { Row } from '../print.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

interface NewPlanOptions {
  organization: string;
  plan: PlanName;
  eventsPerMonth?: number | 'unlimited';
  eventsPerSecond?: number | 'unlimited';
  flagRequestsPerMonth?: number | 'unlimited';
}

export function addPlanCommands(program: Command, terminal: Terminal): void {
  const commands = program.command('plan').description('what an organization may use');
  commands
    .command('show')
    .description("show an organization's plan and its features")
    .requiredOption('--organization <id>', "the organization's UUID")
    .action(({ organization }: { organization: string }, command: Command) =>
      withSession(command, terminal, async ({ sql, printer }) => {
        printer.record(toRow(await getOrganization(sql, organization)));
      }),
    );
  commands
    .command('set')
    .description("change an organization's plan")
    .requiredOption('--organization <id>', "the organization's UUID")
    .addOption(planOption().makeOptionMandatory())
    .option('--events-per-month <n>', 'stored for each project API key, or unlimited (default: as it was)', parseLimit)
    .option(
      '--events-per-second <n>',
      'accepted for each project API key, or unlimited (default: as it was)',
      parseLimit,
    )
    .option(
      '--flag-requests-per-month <n>',
      'answered for each project API key, or unlimited (default: as it was)',
      parseLimit,
    )
    .action(({ organization, plan, ...limits }: NewPlanOptions, command: Command) =>
      withSession(command, terminal, async ({ change, printer }) => {
        const changed = await change((tx, { actor }) =>
          setOrganizationPlan(tx, organization, { plan, limits: toLimits(limits), actor }),
        );
        printer.record(toRow(changed));
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

function toRow(organization: Awaited<ReturnType<typeof getOrganization>>): Row {
  const stored = organization.available_product_features;
  return { organizationId: organization.id, plan: planOf(stored), features: featuresOf(stored), ...limitsOf(stored) };
}

/** The plan that has exactly these features; `custom` when somebody chose them one by one. */
export function planOf(availableProductFeatures: unknown): PlanName | 'custom' {
  const features = featuresOf(availableProductFeatures);
  const hasFeaturesOf = (plan: PlanName) => {
    const wanted = productFeaturesOf(plan).map(({ key }) => key);
    return wanted.length === features.length && wanted.filter(isPlanFeature).every((key) => features.includes(key));
  };
  return planNames.find(hasFeaturesOf) ?? 'custom';
}

function featuresOf(availableProductFeatures: unknown): PlanFeature[] {
  return planFeatures.filter((key) => findPlanFeature(availableProductFeatures, key) !== null);
}
