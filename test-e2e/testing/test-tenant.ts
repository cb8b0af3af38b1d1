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
  type MembershipLevel,
  membershipLevels,
  type PlanLimits,
  type PlanName,
  type ProductFeature,
  productFeaturesOf,
} from '@millrace/contracts';
import { createDatabase, type Database, type Transaction } from '@millrace/db';
import { createLogger } from '@millrace/runtime';

/** An organization of a test's own with one member, one project and one personal key. */
export interface TestTenant {
  organizationId: string;
  userId: number;
  projectId: number;
  /** Same number as `projectId`: a project's first environment shares its id. */
  environmentId: number;
  /** The project API key, `phc_…`. */
  projectApiKey: string;
  /** Same as `projectApiKey`, under the name the ingest side uses. */
  token: string;
  /** `phx_…`. */
  personalApiKey: string;
}

export interface TestTenantOverrides {
  organizationName?: string;
  /** `full` by default. */
  plan?: PlanName;
  email?: string;
  isEmailVerified?: boolean;
  /** Owner by default. */
  level?: MembershipLevel;
  projectName?: string;
  anonymizeIps?: boolean;
  personProcessingOptOut?: boolean;
  /** Everything by default. */
  scopes?: readonly GrantedScope[];
}

/**
 * Creates a tenant that shares nothing with any other one in the same database.
 * @param database an open one, or the address of a migrated database.
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
    features: productFeaturesOf(overrides.plan ?? 'full'),
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
  // Tests count what they do themselves.
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
