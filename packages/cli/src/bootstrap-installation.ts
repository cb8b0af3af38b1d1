import {
  createOwnedOrganization,
  createPersonalApiKey,
  createUser,
  getUser,
  listOrganizations,
} from '@millrace/accounts';
import { type PlanName, productFeaturesOf } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import type { Operator, Session } from './session.ts';

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
export async function bootstrapInstallation(
  change: Session['change'],
  input: BootstrapInput,
): Promise<Bootstrapped | null> {
  return change(async (tx, { actor }) => {
    await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [bootstrapLock]);
    const isSetUp = (await listOrganizations(tx)).length > 0;
    return isSetUp && !input.isForced ? null : create(tx, actor, input);
  });
}

async function create(tx: Transaction, actor: Operator['actor'], input: BootstrapInput): Promise<Bootstrapped> {
  const userId = await findOrCreateUser(tx, input);
  const { organization, project, environment } = await createOwnedOrganization(tx, {
    name: input.organizationName,
    features: productFeaturesOf(input.plan),
    ownerId: userId,
    project: { settings: { name: input.projectName, ...(input.timezone && { timezone: input.timezone }) } },
    actor,
  });
  const { value } = await createPersonalApiKey(tx, { userId, actor, label: 'Bootstrap', scopes: ['*'] });
  return {
    organizationId: organization.id,
    userId,
    projectId: project.id,
    environmentId: environment.id,
    projectApiKey: environment.api_token,
    personalApiKey: value,
  };
}

async function findOrCreateUser(tx: Transaction, input: BootstrapInput): Promise<number> {
  try {
    return (await getUser(tx, { email: input.email })).id;
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error;
  }
  const { email, firstName = '', lastName = '' } = input;
  return (await createUser(tx, { email, firstName, lastName, isEmailVerified: true })).id;
}
