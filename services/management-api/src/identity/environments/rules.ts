// Rules for creating environments and changing settings: demo data, private environments, and settings that refer to
// other records.

import {
  countEnvironments,
  countProjects,
  createEnvironment,
  isDemoEnvironment,
  lockOrganization,
  requireLevelForSettings,
  requireNoPlanLimit,
  requirePlanCapacity,
  setCurrentEnvironment,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { checkEventFilters, findModifierProblem, parseExpressionsAhead, type SqlParser } from '@millrace/insights';
import { AppError, isAppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, hasLimitedReach, isAdministrator } from '../../access/caller.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import type { AddressedRecord } from './show.ts';
import { hasDashboard } from './store.ts';

interface CheckDeps {
  tx: Transaction;
  parser: SqlParser;
}

/**
 * Adds an environment to a project. The new environment becomes the caller's current one, unless the API key is limited
 * to some projects or organizations.
 * @returns the environment ID
 * @throws AppError like `createEnvironment`, or `forbidden` for `access_control`
 */
export async function createAndEnterEnvironment(
  { tx, parser }: CheckDeps,
  caller: Caller,
  { organizationId, projectId, sent }: { organizationId: string; projectId: number; sent: Record<string, unknown> },
): Promise<number> {
  requireLevelForNewEnvironment(caller, organizationId, sent);
  const { id } = await createEnvironment(tx, { projectId, settings: sent, actor: caller });
  await checkQuerySettings({ tx, parser }, id, sent);
  if (!hasLimitedReach(caller)) await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: id });
  return id;
}

/**
 * Parses SQL in settings. Must be called before the transaction that validates the settings, because parsing can take
 * seconds.
 */
export async function parseSettingsAhead(parser: SqlParser, settings: Record<string, unknown>): Promise<void> {
  await parseExpressionsAhead(parser, settings.test_account_filters);
}

/**
 * Checks the records and levels that changed project or environment settings refer to.
 * @throws AppError `forbidden` or `invalid`
 */
export async function checkReferencedRecords(
  { tx, parser }: CheckDeps,
  { caller, target }: AddressedRecord,
  settings: Record<string, unknown>,
): Promise<void> {
  await checkDemoChange(tx, caller, { target, sent: settings });
  requireAccessControlLevel(caller, target.organizationId, settings);
  await requireReferencedRecords(tx, target, settings.test_account_filters);
  await checkQuerySettings({ tx, parser }, target.environmentId, settings);
  await checkPrimaryDashboard(tx, target.environmentId, settings);
}

/**
 * Validates the settings that queries use. Queries would ignore an unknown mode for person properties. Invalid filters
 * would cause errors in all insights that exclude internal and test users.
 * @throws AppError `invalid` naming `modifiers` or `test_account_filters`.
 */
export async function checkQuerySettings(
  { tx, parser }: CheckDeps,
  environmentId: number,
  { modifiers, test_account_filters: filters }: Record<string, unknown>,
): Promise<void> {
  const refusal = (attr: string, detail: string) => new AppError('invalid', detail, { code: 'invalid_input', attr });
  const problem = findModifierProblem(modifiers);
  if (problem !== null) throw refusal('modifiers', problem);
  if (filters === undefined) return;
  const path = 'test_account_filters';
  if (!Array.isArray(filters)) throw refusal(path, 'Expected a list of filters.');
  try {
    await checkEventFilters({ sql: tx, parser }, { projectId: environmentId, filters, path, now: Date.now() });
  } catch (error) {
    throw isAppError(error, 'invalid') ? refusal(path, error.message) : error;
  }
}

/**
 * Checks an environment's primary dashboard.
 * @throws AppError `invalid` if `primary_dashboard` is not a dashboard of the environment
 */
async function checkPrimaryDashboard(
  tx: Transaction,
  environmentId: number,
  { primary_dashboard: id }: Record<string, unknown>,
): Promise<void> {
  const number = Number(id ?? Number.NaN);
  // Another check rejects values that are not IDs.
  if (!Number.isInteger(number) || number > 2_147_483_647) return;
  if (await hasDashboard(tx, environmentId, number)) return;
  const detail = 'Dashboard does not belong to this team.';
  throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'primary_dashboard' });
}

/**
 * Checks that the caller's organization level allows the settings of a new environment.
 * @throws AppError `forbidden`
 */
export function requireLevelForNewEnvironment(
  caller: Caller,
  organizationId: string,
  sent: Record<string, unknown>,
): void {
  requireAccessControlLevel(caller, organizationId, sent);
  const own = caller.memberships.find((membership) => membership.organizationId === organizationId);
  requireLevelForSettings(own?.level ?? 0, { settings: sent });
}

/**
 * Rejects `access_control`, even with an unchanged value, unless the caller is an administrator of the organization.
 */
function requireAccessControlLevel(caller: Caller, organizationId: string, sent: Record<string, unknown>): void {
  if (sent.access_control === undefined) return;
  if (isAdministrator(caller, organizationId)) return;
  throw new AppError(
    'forbidden',
    'Your organization access level is insufficient to configure project access restrictions.',
  );
}

/**
 * Checks a change to `is_demo`. A demo environment that becomes a real environment counts toward the plan's limit from
 * then on. A real environment that becomes a demo no longer counts. Must run before all other checks, because the
 * organization is always locked first.
 * @throws AppError `forbidden`, or `not_found` if the environment was deleted
 */
async function checkDemoChange(
  tx: Transaction,
  caller: Caller,
  { target, sent }: { target: AddressedProject; sent: Record<string, unknown> },
): Promise<void> {
  if (typeof sent.is_demo !== 'boolean') return;
  const { environmentId, projectId, organizationId } = target;
  const { available_product_features: plan } = await lockOrganization(tx, organizationId);
  const isDemo = await isDemoEnvironment(tx, environmentId);
  if (isDemo === undefined) throw new AppError('not_found', 'Not found.');
  if (isDemo === sent.is_demo) return;
  if (!isDemo) {
    requireNoPlanLimit(plan);
    return;
  }
  // Every member can create demo data. All other changes require an organization administrator.
  if (!isAdministrator(caller, organizationId)) {
    throw new AppError('forbidden', 'Your organization access level is insufficient.');
  }
  const environments = await countEnvironments(tx, projectId);
  requirePlanCapacity(plan, 'environments', { ...environments, demo: environments.demo - 1 });
  if (environments.all > environments.demo) return;
  const projects = await countProjects(tx, organizationId);
  requirePlanCapacity(plan, 'projects', { ...projects, demo: projects.demo - 1 });
}

/**
 * Returns true if a request creates demo data. Runs before the body is validated, because the required level depends on
 * the result.
 */
async function isDemoRequested(request: ApiRequest): Promise<boolean> {
  const body = await request.body().catch(() => null);
  const isDemo = (body as { is_demo?: unknown } | null)?.is_demo;
  return isDemo === true || /^(true|1|t|y|yes|on)$/i.test(String(isDemo));
}

/**
 * Requires an organization administrator, unless the request creates only demo data. Every member can create demo data.
 * @throws AppError `forbidden`
 */
export async function requireCanCreateProjects(
  { caller, request }: { caller: Caller; request: ApiRequest },
  organizationId: string,
): Promise<void> {
  if (isAdministrator(caller, organizationId)) return;
  const isMember = caller.memberships.some((own) => own.organizationId === organizationId);
  if (isMember && (await isDemoRequested(request))) return;
  throw new AppError('forbidden', 'Your organization access level is insufficient.');
}
