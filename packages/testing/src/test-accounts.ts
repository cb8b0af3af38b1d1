import { createEnvironment, createOrganization, createProject, setOrganizationPlan } from '@millrace/accounts';
import { type PlanLimits, type PlanName, type ProductFeature, productFeaturesOf } from '@millrace/contracts';
import type { Database } from '@millrace/db';

type Transactions = Pick<Database, 'transaction'>;

/** An organization without members, by default with the full plan. */
export function createTestOrganization(
  { transaction }: Transactions,
  { name, features = productFeaturesOf('full') }: { name: string; features?: ProductFeature[] },
) {
  return transaction((tx) => createOrganization(tx, { name, features, actor: null }));
}

/** A project of an organization, with settings of its environment by their columns. */
export function createTestProject(
  { transaction }: Transactions,
  { organizationId, ...settings }: { organizationId: string; [column: string]: unknown },
) {
  return transaction((tx) => createProject(tx, { organizationId, settings, actor: null }));
}

/** A further environment of a project, with settings by their columns. */
export function createTestEnvironment(
  { transaction }: Transactions,
  { projectId, ...settings }: { projectId: number; [column: string]: unknown },
) {
  return transaction((tx) => createEnvironment(tx, { projectId, settings, actor: null }));
}

export function setTestPlan(
  { transaction }: Transactions,
  organizationId: string,
  plan: PlanName,
  limits: Partial<PlanLimits> = {},
) {
  return transaction((tx) => setOrganizationPlan(tx, organizationId, { plan, limits, actor: null }));
}
