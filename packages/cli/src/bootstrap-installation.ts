import {
  type AccountClient,
  addMember,
  createOrganization,
  createPersonalApiKey,
  createProject,
  createUser,
  getUser,
  listOrganizations,
  recordOperatorActivity,
} from '@millrace/accounts';
import { membershipLevels, type PlanName, productFeaturesOf } from '@millrace/contracts';
import type { PrismaClient } from '@millrace/db';
import { isAppError } from '@millrace/errors';

export interface BootstrapInput {
  organizationName: string;
  email: string;
  firstName?: string;
  lastName?: string;
  projectName: string;
  timezone?: string;
  plan: PlanName;
  /** Create another organization although there is one. */
  isForced: boolean;
}

/** Ids and keys of what was made, named as in the connection file of the embedded system. */
export interface Bootstrapped {
  organizationId: string;
  userId: number;
  projectId: number;
  environmentId: number;
  projectApiKey: string;
  /** Shown once: only its hash is stored. */
  personalApiKey: string;
}

/** Any number; taken by nobody else in this database. */
const bootstrapLock = 7_316_555;

/**
 * Makes a migrated installation usable: an organization with an owner, a project and a personal key with all scopes.
 * All or nothing. Started by several processes at once, one works and the others find its organization.
 *
 * @returns null when there is an organization already, unless forced.
 * @throws AppError `invalid` naming the field.
 */
export async function bootstrapInstallation(prisma: PrismaClient, input: BootstrapInput): Promise<Bootstrapped | null> {
  return prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${bootstrapLock}::bigint)`;
      const isSetUp = (await listOrganizations(tx)).length > 0;
      return isSetUp && !input.isForced ? null : create(tx, input);
    },
    // Waiting for another process that does the same counts too.
    { timeout: 30_000 },
  );
}

async function create(tx: AccountClient, input: BootstrapInput): Promise<Bootstrapped> {
  const organization = await createOrganization(tx, {
    name: input.organizationName,
    features: productFeaturesOf(input.plan),
  });
  const userId = await findOrCreateUser(tx, input);
  await addMember(tx, { organizationId: organization.id, userId, level: membershipLevels.owner });
  const { project, environment } = await createProject(tx, {
    organizationId: organization.id,
    name: input.projectName,
    ...(input.timezone === undefined ? {} : { timezone: input.timezone }),
  });
  const { value } = await createPersonalApiKey(tx, { userId, label: 'Bootstrap', scopes: ['*'] });
  const { id: organizationId, name } = organization;
  const done = { command: 'bootstrap', organizationId, activity: 'created' } as const;
  await recordOperatorActivity(tx, { ...done, scope: 'Organization', itemId: organizationId, name });
  const target = { environmentId: environment.id, itemId: project.id };
  await recordOperatorActivity(tx, { ...done, ...target, scope: 'Project', name: project.name });
  await recordOperatorActivity(tx, { ...done, ...target, scope: 'Team', name: environment.name });
  return {
    organizationId: organization.id,
    userId,
    projectId: project.id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    personalApiKey: value,
  };
}

async function findOrCreateUser(tx: AccountClient, input: BootstrapInput): Promise<number> {
  try {
    return (await getUser(tx, { email: input.email })).id;
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error;
  }
  const { email, firstName = '', lastName = '' } = input;
  return (await createUser(tx, { email, firstName, lastName, isEmailVerified: true })).id;
}
