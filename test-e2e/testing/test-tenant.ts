import { randomUUID } from 'node:crypto';
import {
  addMember,
  createEnvironment,
  createOrganization,
  createPersonalApiKey,
  createProject,
  createUser,
  setOrganizationPlan,
} from '@millrace/accounts';
import {
  type GrantedScope,
  listProductFeatures,
  type MembershipLevel,
  membershipLevels,
  type PlanLimits,
  type PlanName,
  type ProductFeature,
} from '@millrace/contracts';
import { createDatabase, type Database, type Transaction } from '@millrace/db';
import { createLogger } from '@millrace/runtime';

/** An organization with one member, one project and one personal API key. */
export interface TestTenant {
  organizationId: string;
  userId: number;
  projectId: number;
  /** Equals `projectId`, because a project's first environment has the project's ID. */
  environmentId: number;
  projectApiKey: string;
  /** The same value as `projectApiKey`, under the name that ingestion uses. */
  token: string;
  personalApiKey: string;
}

export interface TestTenantOverrides {
  organizationName?: string;
  /** The organization's plan. The default is `full`. */
  plan?: PlanName;
  email?: string;
  isEmailVerified?: boolean;
  /** The member's level. The default is owner. */
  level?: MembershipLevel;
  projectName?: string;
  anonymizeIps?: boolean;
  personProcessingOptOut?: boolean;
  /** The API key's scopes. The default is all scopes. */
  scopes?: readonly GrantedScope[];
}

/**
 * Creates a tenant that shares nothing with other tenants in the same database.
 * @param database an open database, or the URL of a migrated database
 */
export async function createTestTenant(
  database: Pick<Database, 'transaction'> | string,
  overrides: TestTenantOverrides = {},
): Promise<TestTenant> {
  if (typeof database !== 'string') return create(database, overrides);
  const own = createDatabase({ url: database, logger: createLogger('testing', 'warn'), poolSize: 1 });
  try {
    return await create(own, overrides);
  } finally {
    await own.stop();
  }
}

async function create(
  { transaction }: Pick<Database, 'transaction'>,
  overrides: TestTenantOverrides,
): Promise<TestTenant> {
  return transaction((tx) => createIn(tx, overrides));
}

async function createIn(tx: Transaction, overrides: TestTenantOverrides): Promise<TestTenant> {
  const organization = await createOrganization(tx, {
    name: overrides.organizationName ?? 'Test organization',
    features: listProductFeatures(overrides.plan ?? 'full'),
    actor: null,
  });
  const { email = `test-${randomUUID()}@example.com`, isEmailVerified = false } = overrides;
  const user = await createUser(tx, { email, isEmailVerified });
  await addMember(tx, {
    organizationId: organization.id,
    userId: user.id,
    level: overrides.level ?? membershipLevels.owner,
  });
  const { project, environment } = await createProject(tx, {
    organizationId: organization.id,
    settings: {
      name: overrides.projectName ?? 'Test project',
      anonymize_ips: overrides.anonymizeIps ?? false,
      person_processing_opt_out: overrides.personProcessingOptOut ?? false,
    },
    actor: null,
  });
  const personal = await createPersonalApiKey(tx, {
    actor: null,
    userId: user.id,
    label: 'Test key',
    scopes: overrides.scopes ?? ['*'],
  });
  // Delete the activity that creating the tenant caused, so that tests see only their own activity.
  const made = [organization.id, personal.key.id];
  await tx.query('DELETE FROM activity_log WHERE organization_id::text = ANY ($1) OR item_id = ANY ($1)', [made]);
  return {
    organizationId: organization.id,
    userId: user.id,
    projectId: project.id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    token: environment.api_token,
    personalApiKey: personal.value,
  };
}

type Transactions = Pick<Database, 'transaction'>;

/** Creates an organization without members. The default plan is `full`. */
export function createTestOrganization(
  { transaction }: Transactions,
  { name, features = listProductFeatures('full') }: { name: string; features?: ProductFeature[] },
) {
  return transaction((tx) => createOrganization(tx, { name, features, actor: null }));
}

/** Creates a project in an organization. `settings` contains column values of the project's environment. */
export function createTestProject(
  { transaction }: Transactions,
  { organizationId, ...settings }: { organizationId: string; [column: string]: unknown },
) {
  return transaction((tx) => createProject(tx, { organizationId, settings, actor: null }));
}

/** Creates an additional environment in a project. `settings` contains its column values. */
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
