import { randomUUID } from 'node:crypto';
import { addMember, createOrganization, createPersonalApiKey, createProject, createUser } from '@millrace/accounts';
import {
  type GrantedScope,
  type MembershipLevel,
  membershipLevels,
  type PlanName,
  productFeaturesOf,
} from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
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
 * @param database the typed client's owner, or the address of a migrated database.
 */
export async function createTestTenant(
  database: Pick<Database, 'prisma'> | string,
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

async function create(database: Pick<Database, 'prisma'>, overrides: TestTenantOverrides): Promise<TestTenant> {
  const { prisma } = database;
  const organization = await createOrganization(prisma, {
    name: overrides.organizationName ?? 'Test organization',
    features: productFeaturesOf(overrides.plan ?? 'full'),
  });
  const user = await createUser(prisma, { email: overrides.email ?? `test-${randomUUID()}@example.com` });
  await addMember(prisma, {
    organizationId: organization.id,
    userId: user.id,
    level: overrides.level ?? membershipLevels.owner,
  });
  const { project, environment } = await createProject(prisma, {
    organizationId: organization.id,
    name: overrides.projectName ?? 'Test project',
    anonymizeIps: overrides.anonymizeIps ?? false,
    personProcessingOptOut: overrides.personProcessingOptOut ?? false,
  });
  const personal = await createPersonalApiKey(prisma, {
    userId: user.id,
    label: 'Test key',
    scopes: overrides.scopes ?? ['*'],
  });
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
