// Who may make an environment, turn demo data into one, and make it private.

import {
  countEnvironments,
  countProjects,
  createEnvironment,
  findIsDemo,
  lockOrganization,
  requireLevelOfSettings,
  requireRoom,
  requireUncounted,
  setCurrentEnvironment,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { readEventFilters } from '@millrace/insights';
import { AppError, isAppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, isAdministrator, isLimited } from '../../access/caller.ts';
import { hasDashboard } from './store.ts';

/**
 * Adds an environment to a project. The caller's current one is the new one from now on, unless the key used is for some
 * places only.
 *
 * @returns its id.
 * @throws AppError as `createEnvironment` does, or `forbidden` for `access_control`.
 */
export async function createEnvironmentFor(
  tx: Transaction,
  caller: Caller,
  { organizationId, projectId, sent }: { organizationId: string; projectId: number; sent: Record<string, unknown> },
): Promise<number> {
  requireLevelsOfNew(caller, organizationId, sent);
  const { id } = await createEnvironment(tx, { projectId, settings: sent, actor: caller });
  await checkTestAccountFilters(tx, id, sent);
  if (!isLimited(caller)) await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: id });
  return id;
}

/**
 * Every insight without internal and test users reads these filters, so a filter that cannot be read is refused when it is sent.
 * @throws AppError `invalid` naming `test_account_filters`.
 */
export async function checkTestAccountFilters(
  tx: Transaction,
  environmentId: number,
  { test_account_filters: filters }: Record<string, unknown>,
): Promise<void> {
  if (filters === undefined) return;
  const path = 'test_account_filters';
  const refusal = (detail: string) => new AppError('invalid', detail, { code: 'invalid_input', attr: path });
  if (!Array.isArray(filters)) throw refusal('Expected a list of filters.');
  try {
    await readEventFilters(tx, { projectId: environmentId, filters, path, now: Date.now() });
  } catch (error) {
    throw isAppError(error, 'invalid') ? refusal(error.message) : error;
  }
}

/** @throws AppError `invalid` naming `primary_dashboard`, when it is no dashboard of the environment. */
export async function checkPrimaryDashboard(
  tx: Transaction,
  environmentId: number,
  { primary_dashboard: id }: Record<string, unknown>,
): Promise<void> {
  const number = Number(id ?? Number.NaN);
  // What is no ID is refused together with the other settings.
  if (!Number.isInteger(number) || number > 2_147_483_647) return;
  if (await hasDashboard(tx, environmentId, number)) return;
  const detail = 'Dashboard does not belong to this team.';
  throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'primary_dashboard' });
}

/** For a new environment of an organization. @throws AppError `forbidden`. */
export function requireLevelsOfNew(caller: Caller, organizationId: string, sent: Record<string, unknown>): void {
  requireAccessControlLevel(caller, organizationId, sent);
  const own = caller.memberships.find((membership) => membership.organizationId === organizationId);
  requireLevelOfSettings(own?.level ?? 0, { settings: sent });
}

/** Who may make an environment private is who administrates the organization, even if the value stays. */
export function requireAccessControlLevel(caller: Caller, organizationId: string, sent: Record<string, unknown>): void {
  if (sent.access_control === undefined) return;
  if (isAdministrator(caller, organizationId)) return;
  throw new AppError(
    'forbidden',
    'Your organization access level is insufficient to configure project access restrictions.',
  );
}

/**
 * Whether a change may turn demo data into a real environment, or the other way round: who does the first makes one more
 * that the plan counts, who does the second makes room for one. To be asked before anything else is held, because the
 * organization is always the first lock taken.
 *
 * @throws AppError `forbidden`, or `not_found` when it is gone by now.
 */
export async function checkDemoChange(
  tx: Transaction,
  caller: Caller,
  { target, sent }: { target: AddressedProject; sent: Record<string, unknown> },
): Promise<void> {
  if (typeof sent.is_demo !== 'boolean') return;
  const { environmentId, projectId, organizationId } = target;
  const { available_product_features: plan } = await lockOrganization(tx, organizationId);
  const isDemo = await findIsDemo(tx, environmentId);
  if (isDemo === undefined) throw new AppError('not_found', 'Not found.');
  if (isDemo === sent.is_demo) return;
  if (!isDemo) {
    requireUncounted(plan);
    return;
  }
  // Demo data is for everybody to make, everything else for who administrates the organization.
  if (!isAdministrator(caller, organizationId)) {
    throw new AppError('forbidden', 'Your organization access level is insufficient.');
  }
  const environments = await countEnvironments(tx, projectId);
  requireRoom(plan, 'environments', { ...environments, demo: environments.demo - 1 });
  if (environments.all > environments.demo) return;
  const projects = await countProjects(tx, organizationId);
  requireRoom(plan, 'projects', { ...projects, demo: projects.demo - 1 });
}

/** Whether a request asks for demo data. Looked at before the body is validated: it decides who may send it. */
export async function isAskedForDemo(request: ApiRequest): Promise<boolean> {
  const body = await request.body().catch(() => null);
  const asked = (body as { is_demo?: unknown } | null)?.is_demo;
  return asked === true || /^(true|1|t|y|yes|on)$/i.test(String(asked));
}
