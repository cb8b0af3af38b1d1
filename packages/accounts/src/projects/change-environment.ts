import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { checkText, isRowId } from '../input/account-input.ts';
import { checkSettings } from './check-settings.ts';
import { lockEnvironment, type StoredEnvironment, updateEnvironment } from './environment-store.ts';
import { mergeSettings } from './merge-settings.ts';
import { recordEnvironmentChange } from './record-environment-change.ts';

export interface EnvironmentChange {
  environmentId: number;
  /** By their columns; absent = as it was, null clears one that may be null. */
  settings: Record<string, unknown>;
  actor: Actor;
}

/**
 * Writes the given settings, and nothing else, of an environment. The row is held meanwhile, so that changes of different
 * settings at the same moment all stay (a merged one included).
 *
 * @returns the environment before and after.
 * @throws AppError `invalid` naming the field, or `not_found`.
 */
export async function changeEnvironment(
  tx: Transaction,
  { environmentId, settings: given, actor }: EnvironmentChange,
): Promise<{ before: StoredEnvironment; after: StoredEnvironment }> {
  const settings = checkChanges(given);
  const before = isRowId(environmentId) ? await lockEnvironment(tx, environmentId) : undefined;
  if (!before) throw notFound('Environment');
  if (Object.keys(settings).length === 0) return { before, after: before };
  const isSwitched = settings.access_control !== undefined && settings.access_control !== before.access_control;
  const written = await updateEnvironment(tx, environmentId, {
    ...mergeSettings(before, settings),
    // Whoever opens or shuts an environment does so for everybody alike.
    ...(isSwitched && { default_access_level: null }),
  });
  const after = { ...before, ...written };
  await recordEnvironmentChange(tx, after, {
    actor,
    change: { before, after: written, secret: ['slack_incoming_webhook'] },
  });
  return { before, after };
}

function checkChanges(given: Record<string, unknown>): Record<string, unknown> {
  const settings = checkSettings(given);
  if (typeof settings.name === 'string') settings.name = checkText('name', settings.name, { maxLength: 200 });
  return settings;
}
