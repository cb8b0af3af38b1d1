/** Changes environments and their projects, and records each change. */

import { maskUrl, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { type Activity, type Actor, recordActivity } from '../activity/record-activity.ts';
import { checkName, isRowId, notFound } from '../input.ts';
import { newProjectToken } from '../keys/key-values.ts';
import { lockEnvironment, type StoredEnvironment, updateEnvironment } from './environment-store.ts';
import { listEnvironmentKeys, lockProject, updateProject } from './project-store.ts';
import { getOrganizationOfProject } from './projects.ts';
import { settingFields } from './setting-fields.ts';
import { checkProjectDescription, checkSettings, mergeSettings } from './settings.ts';

export interface EnvironmentChange {
  environmentId: number;
  /** Settings by column name. Undefined leaves a setting unchanged. Null clears a nullable setting. */
  settings: Record<string, unknown>;
  actor: Actor;
  /** The actor's level in the environment. Undefined for an operator, who can change all settings. */
  level?: number | undefined;
}

/**
 * Changes only the given settings of an environment. Locks the row, so that no change is lost if concurrent requests
 * change different settings, or different keys of the same setting.
 * @returns the environment before and after the change
 * @throws AppError `invalid` naming the field, `forbidden` for a setting that only administrators can change, or
 *   `not_found`
 */
export async function changeEnvironment(
  tx: Transaction,
  { environmentId, settings: given, actor, level }: EnvironmentChange,
): Promise<{ before: StoredEnvironment; after: StoredEnvironment }> {
  const before = isRowId(environmentId) ? await lockEnvironment(tx, environmentId) : undefined;
  if (!before) throw notFound('Environment');
  const settings = checkChanges(withoutMask(given, before));
  requireLevelForSettings(level, { before, settings });
  if (Object.keys(settings).length === 0) return { before, after: before };
  const isSwitched = settings.access_control !== undefined && settings.access_control !== before.access_control;
  const written = await updateEnvironment(tx, environmentId, {
    ...mergeSettings(before, settings),
    // Making an environment private or open affects all members, so it resets the default rule.
    ...(isSwitched && { default_access_level: null }),
  });
  const after = { ...before, ...written };
  await recordEnvironmentChange(tx, after, {
    actor,
    change: { before, after: written, secret: ['slack_incoming_webhook'] },
  });
  return { before, after };
}

/** Omits a masked webhook URL, because clients send the mask back when they change other settings. */
function withoutMask(changes: Record<string, unknown>, before: StoredEnvironment): Record<string, unknown> {
  const { slack_incoming_webhook: webhook, ...others } = changes;
  const isShown = before.slack_incoming_webhook !== null && webhook === maskUrl(before.slack_incoming_webhook);
  return isShown ? others : changes;
}

/**
 * Checks that the actor's level is high enough to change these settings.
 * @param before the stored settings, or undefined for a new environment
 * @throws AppError `forbidden`
 */
export function requireLevelForSettings(
  level: number | undefined,
  { before, settings }: { before?: StoredEnvironment; settings: Record<string, unknown> },
): void {
  if (level === undefined || level >= membershipLevels.administrator) return;
  for (const [field, { isForAdministrators }] of Object.entries(settingFields)) {
    const isSame =
      settings[field] === undefined || settings[field] === (before?.[field as keyof StoredEnvironment] ?? null);
    if (!isForAdministrators || isSame) continue;
    throw new AppError('forbidden', `Only project administrators can change ${field}.`);
  }
}

function checkChanges(changes: Record<string, unknown>): Record<string, unknown> {
  const settings = checkSettings(changes);
  if (typeof settings.name === 'string') settings.name = checkName('name', settings.name, { maxLength: 200 });
  return settings;
}

interface ProjectChange {
  projectId: number;
  /** The environment that `@current` refers to. Defaults to the first environment. */
  environmentId?: number;
  /** The environment's settings by column name. `name` renames both the project and the environment. */
  settings: Record<string, unknown>;
  /** The project's description. Undefined leaves the description unchanged. */
  productDescription?: string | null | undefined;
  actor: Actor;
  level?: number | undefined;
}

/**
 * Changes the name and description of a project. Other settings belong to its first environment, which is also renamed.
 * @returns the project API key of the first environment
 * @throws AppError like `changeEnvironment`
 */
export async function changeProject(
  tx: Transaction,
  { projectId, environmentId, settings, productDescription, actor, level }: ProjectChange,
): Promise<void> {
  // All code that locks a project and its environment must lock the project first.
  const before = isRowId(projectId) ? await lockProject(tx, projectId) : undefined;
  const environments = before ? await listEnvironmentKeys(tx, projectId) : [];
  const addressed = environments.find(({ id }) => environmentId === undefined || id === environmentId);
  if (!before || !addressed) throw notFound('Project');
  const { after: environment } = await changeEnvironment(tx, { environmentId: addressed.id, settings, actor, level });
  const own = {
    ...(settings.name !== undefined && { name: environment.name }),
    ...(productDescription !== undefined && { product_description: checkProjectDescription(productDescription) }),
  };
  if (Object.keys(own).length === 0) return;
  const after = await updateProject(tx, projectId, own);
  await recordActivity(tx, {
    organizationId: before.organization_id,
    environmentId: addressed.id,
    scope: 'Project',
    itemId: projectId,
    activity: 'updated',
    actor,
    name: typeof after.name === 'string' ? after.name : before.name,
    change: { before, after },
  });
}

/**
 * Gives an environment a new project API key. The old key becomes invalid immediately. The activity record contains
 * neither key (docs/api/projects.md#environments).
 * @throws AppError `not_found`.
 */
export async function resetProjectToken(
  tx: Transaction,
  { environmentId, actor }: { environmentId: number; actor: Actor },
): Promise<void> {
  const before = await lockEnvironment(tx, environmentId);
  if (!before) throw notFound('Environment');
  await updateEnvironment(tx, environmentId, { api_token: newProjectToken() });
  await recordEnvironmentChange(tx, before, {
    actor,
    changes: [{ type: 'Team', action: 'changed', field: 'api_token', before: null, after: null }],
  });
}

export async function recordEnvironmentChange(
  tx: Transaction,
  { id, project_id, name }: Pick<StoredEnvironment, 'id' | 'project_id' | 'name'>,
  done: Pick<Activity, 'actor' | 'change' | 'changes'>,
): Promise<void> {
  await recordActivity(tx, {
    organizationId: await getOrganizationOfProject(tx, project_id),
    environmentId: id,
    scope: 'Team',
    itemId: id,
    activity: 'updated',
    name,
    ...done,
  });
}
