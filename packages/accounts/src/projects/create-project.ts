/** Creates projects and environments within the plan's limits, with default filters. */

import { randomUUID } from 'node:crypto';
import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { newProjectToken } from '../keys/key-values.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { findMemberDomains, insertEnvironment, type StoredEnvironment } from './environment-store.ts';
import { requireNoDemo, requirePlanCapacity } from './plan-limits.ts';
import { countEnvironments, countProjects, insertProject, type StoredProject } from './project-store.ts';
import { getOrganizationOfProject } from './projects.ts';
import { checkNewSettings, checkProjectDescription, type NewSettings } from './settings.ts';

export interface NewProject {
  organizationId: string;
  /** The first environment's settings by column name. `name` also becomes the project's name. */
  settings?: Record<string, unknown>;
  /** The project's description, with at most 1000 characters. */
  productDescription?: string | null | undefined;
  actor: Actor;
}

/**
 * Creates a project and its first environment, which have the same ID and name. The API token and the settings belong
 * to the environment.
 * @throws AppError `invalid` naming the field, `not_found` for the organization, or `forbidden` if the limit of the
 * plan is reached
 */
export async function createProject(
  tx: Transaction,
  { organizationId, settings: given = {}, productDescription, actor }: NewProject,
): Promise<{ project: StoredProject; environment: StoredEnvironment }> {
  const settings = checkNewSettings(given);
  const description = checkProjectDescription(productDescription);
  // The lock prevents concurrent requests from exceeding the plan's limit.
  const { available_product_features: plan, default_anonymize_ips } = await lockOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  if (isBoundByPlan(actor)) await requireProjectRoom(tx, { organizationId, plan, isDemo });
  const project = await insertProject(tx, { organizationId, name: settings.name, description });
  const { id, name } = project;
  await recordActivity(tx, {
    organizationId,
    environmentId: id,
    scope: 'Project',
    itemId: id,
    activity: 'created',
    actor,
    name,
  });
  const environment = await createWithDefaults(tx, {
    organizationId,
    projectId: id,
    id,
    actor,
    settings: { anonymize_ips: default_anonymize_ips, ...settings },
  });
  return { project, environment };
}

interface NewEnvironment {
  projectId: number;
  settings?: Record<string, unknown>;
  actor: Actor;
}

/**
 * Adds an environment with its own ID and key to a project.
 * @throws AppError `invalid` naming the field, `not_found` for the project, or `forbidden` if a user has reached the
 * limit of the plan
 */
export async function createEnvironment(
  tx: Transaction,
  { projectId, settings: given = {}, actor }: NewEnvironment,
): Promise<StoredEnvironment> {
  const settings = checkNewSettings(given);
  const organizationId = await getOrganizationOfProject(tx, projectId);
  const { available_product_features: plan, default_anonymize_ips } = await lockOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  if (isBoundByPlan(actor)) await requireEnvironmentRoom(tx, { organizationId, projectId, plan, isDemo });
  return createWithDefaults(tx, {
    organizationId,
    projectId,
    id: null,
    actor,
    settings: { anonymize_ips: default_anonymize_ips, ...settings },
  });
}

/**
 * Creates an environment with a new key, and records it. Adds filters that exclude members of the organization, unless
 * the settings contain filters or the environment is for demo data.
 * @param id ID of a project's first environment. If null, the next free ID is used.
 */
async function createWithDefaults(
  tx: Transaction,
  {
    organizationId,
    projectId,
    id,
    settings,
    actor,
  }: { organizationId: string; projectId: number; id: number | null; settings: NewSettings; actor: Actor },
): Promise<StoredEnvironment> {
  const filters = settings.is_demo === true ? [] : defaultAccountFilters(await findMemberDomains(tx, organizationId));
  const environment = await insertEnvironment(tx, {
    id,
    projectId,
    columns: { uuid: randomUUID(), api_token: newProjectToken(), test_account_filters: filters, ...settings },
  });
  await recordActivity(tx, {
    organizationId,
    environmentId: environment.id,
    scope: 'Team',
    itemId: environment.id,
    activity: 'created',
    actor,
    name: environment.name,
  });
  return environment;
}

/** Public email domains. An address in one of these domains does not show which organization a user belongs to. */
const genericDomains = new Set([
  'aol.com',
  'fastmail.com',
  'gmail.com',
  'gmx.com',
  'gmx.de',
  'gmx.net',
  'googlemail.com',
  'hey.com',
  'hotmail.com',
  'icloud.com',
  'live.com',
  'localhost',
  'mail.com',
  'mail.ru',
  'me.com',
  'msn.com',
  'outlook.com',
  'pm.me',
  'proton.me',
  'protonmail.com',
  'qq.com',
  'web.de',
  'yahoo.com',
  'yandex.ru',
]);

/**
 * Returns the default filters that exclude internal traffic: events from development machines, and from members of the
 * organization, who are recognized by their email domain (docs/api/projects.md#projects).
 * @param memberDomains the domains of the members' email addresses, in the order of joining
 */
function defaultAccountFilters(memberDomains: readonly string[]): object[] {
  const domain = memberDomains.find((candidate) => candidate !== '' && !genericDomains.has(candidate));
  return [
    ...(domain === undefined ? [] : [{ key: 'email', operator: 'not_icontains', value: `@${domain}`, type: 'person' }]),
    { key: '$host', operator: 'not_regex', value: '^(localhost|127\\.0\\.0\\.1)($|:)', type: 'event' },
  ];
}

/**
 * Returns whether the plan limits the actor. It limits users, but neither the system nor operators, who assign plans
 * with `millrace`.
 */
function isBoundByPlan(actor: Actor): boolean {
  return actor !== null && 'userId' in actor;
}

/**
 * Checks that the plan allows another project. The caller must have locked the organization.
 * @throws AppError `forbidden`
 */
async function requireProjectRoom(
  tx: Transaction,
  { organizationId, plan, isDemo }: { organizationId: string; plan: unknown; isDemo: boolean },
): Promise<void> {
  const projects = await countProjects(tx, organizationId);
  if (isDemo) requireNoDemo(projects);
  else requirePlanCapacity(plan, 'projects', { ...projects, all: projects.all + 1 });
}

/**
 * Checks that the plan allows another environment. The caller must have locked the organization.
 * @throws AppError `forbidden`
 */
async function requireEnvironmentRoom(
  tx: Transaction,
  {
    organizationId,
    projectId,
    plan,
    isDemo,
  }: { organizationId: string; projectId: number; plan: unknown; isDemo: boolean },
): Promise<void> {
  const environments = await countEnvironments(tx, projectId);
  if (isDemo) {
    requireNoDemo(environments);
    return;
  }
  requirePlanCapacity(plan, 'environments', { ...environments, all: environments.all + 1 });
  // Projects that contain only demo data do not count toward the limit. After a real environment is added, they do.
  if (environments.all !== environments.demo) return;
  const projects = await countProjects(tx, organizationId);
  requirePlanCapacity(plan, 'projects', { ...projects, demo: projects.demo - 1 });
}
