import { randomUUID } from 'node:crypto';
import { defaultAccountFilters, findMemberDomains, lockOrganization, newProjectToken } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { type Caller, isLimited } from '../../access/caller.ts';
import { recordActivity } from '../activity/record-activity.ts';
import { requireAccessControlLevel } from './change-environment.ts';
import { checkSettings } from './check-settings.ts';
import { insertEnvironment, makeCurrent } from './environment-write-store.ts';
import { countEnvironments, countProjects } from './plan-count-store.ts';
import { requireNoDemo, requireRoom } from './plan-limits.ts';
import { insertProject } from './project-write-store.ts';

/**
 * Adds an environment with its own id and key to a project (reference/management-api.md 8.1). The caller's current one
 * is the new one from now on, unless the key used is for some places only.
 *
 * @returns its id.
 * @throws AppError `invalid` naming the field, or `forbidden` when the plan has no room.
 */
export async function createEnvironment(
  tx: Transaction,
  caller: Caller,
  { organizationId, projectId, sent }: { organizationId: string; projectId: number; sent: Record<string, unknown> },
): Promise<number> {
  const settings = checkNew(caller, organizationId, sent);
  const { available_product_features: features } = await holdOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  const environments = await countEnvironments(tx, projectId);
  if (isDemo) requireNoDemo(environments);
  else {
    requireRoom(features, 'environments', { ...environments, all: environments.all + 1 });
    const isProjectDemo = environments.all === environments.demo;
    const projects = isProjectDemo && (await countProjects(tx, organizationId));
    if (projects) requireRoom(features, 'projects', { ...projects, demo: projects.demo - 1 });
  }
  return insertWithDefaults(tx, caller, { organizationId, projectId, id: null, settings });
}

/**
 * Makes a project and its first environment, which share an id (reference/management-api.md section 7).
 *
 * @returns the id of both.
 * @throws AppError as `createEnvironment` does.
 */
export async function createProject(
  tx: Transaction,
  caller: Caller,
  { organizationId, sent }: { organizationId: string; sent: Record<string, unknown> },
): Promise<number> {
  const { product_description: description = null, ...rest } = sent;
  const settings = checkNew(caller, organizationId, rest);
  const { available_product_features: features } = await holdOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  const projects = await countProjects(tx, organizationId);
  if (isDemo) requireNoDemo(projects);
  else requireRoom(features, 'projects', { ...projects, all: projects.all + 1 });
  const name = nameOf(settings);
  const id = await insertProject(tx, { organizationId, name, description });
  await recordActivity(tx, {
    organizationId,
    environmentId: id,
    scope: 'Project',
    itemId: id,
    activity: 'created',
    actor: caller,
    name,
  });
  return insertWithDefaults(tx, caller, { organizationId, projectId: id, id, settings });
}

function checkNew(caller: Caller, organizationId: string, sent: Record<string, unknown>): Record<string, unknown> {
  requireAccessControlLevel(caller, organizationId, sent);
  if (sent.primary_dashboard !== undefined && sent.primary_dashboard !== null) {
    throw new AppError('invalid', 'Primary dashboard cannot be set on project creation.', {
      attr: 'primary_dashboard',
    });
  }
  return checkSettings(sent);
}

function nameOf(settings: Record<string, unknown>): string {
  return typeof settings.name === 'string' ? settings.name : 'Default project';
}

/** Two who make the last one a plan allows come one after the other. */
async function holdOrganization(tx: Transaction, organizationId: string) {
  const organization = await lockOrganization(tx, organizationId);
  if (!organization) throw new AppError('not_found', 'Organization not found.');
  return organization;
}

async function insertWithDefaults(
  tx: Transaction,
  caller: Caller,
  {
    organizationId,
    projectId,
    id,
    settings,
  }: { organizationId: string; projectId: number; id: number | null; settings: Record<string, unknown> },
): Promise<number> {
  const name = nameOf(settings);
  const filters = settings.is_demo === true ? [] : defaultAccountFilters(await findMemberDomains(tx, organizationId));
  const environmentId = await insertEnvironment(tx, {
    id,
    projectId,
    columns: { uuid: randomUUID(), api_token: newProjectToken(), test_account_filters: filters, ...settings, name },
  });
  if (!isLimited(caller)) await makeCurrent(tx, caller.userId, { environmentId, organizationId });
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'Team',
    itemId: environmentId,
    activity: 'created',
    actor: caller,
    name,
  });
  return environmentId;
}
