// Checks new and changed feature flags: defaults, field combinations, limits and conflicting edits.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import { removeNamesInFilters } from '../filters/filters.ts';
import type { flagChanges, newFlag } from '../schema.ts';
import { type FlagFields, measureFlags } from '../store.ts';

export type FlagChanges = Static<typeof flagChanges>;
export type NewFlag = Static<typeof newFlag>;

const defaults: Omit<FlagFields, 'key'> = {
  name: '',
  filters: {},
  active: true,
  deleted: false,
  archived: false,
  ensure_experience_continuity: false,
  bucketing_identifier: null,
  evaluation_runtime: 'all',
  evaluation_contexts: [],
  tags: [],
  is_remote_configuration: false,
  has_encrypted_payloads: false,
  has_enriched_analytics: false,
  rollback_conditions: [],
  performed_rollback: false,
};

/** Returns a new flag with defaults. Does not validate the filters. */
export function fillFlagDefaults(body: NewFlag): FlagFields {
  return applyFlagChanges({ ...defaults, key: body.key }, body);
}

/** Applies all changes except those to filters. Undefined fields remain unchanged. */
export function applyFlagChanges(fields: FlagFields, changes: FlagChanges): FlagFields {
  const {
    filters: _,
    version: __,
    original_flag: ___,
    evaluation_tags,
    evaluation_contexts,
    name,
    ...others
  } = changes;
  return {
    ...copyFlagFields(fields),
    ...others,
    name: name === undefined ? fields.name : (name ?? ''),
    evaluation_contexts: evaluation_contexts ?? evaluation_tags ?? fields.evaluation_contexts,
    // A user who enables a flag again is assumed to have noticed the rollback.
    ...(changes.active === true && { performed_rollback: false }),
  };
}

export function copyFlagFields(fields: FlagFields): FlagFields {
  const names = ['key', ...Object.keys(defaults)] as (keyof FlagFields)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as FlagFields;
}

/**
 * Checks that a flag's fields can be combined, given its state before the change.
 * @throws AppError `invalid` naming the fields that cannot be combined
 */
export function checkFlag(fields: FlagFields, before: FlagFields | null): void {
  if (!/^[\w-]+$/.test(fields.key) && fields.key !== before?.key) {
    throw new AppError('invalid', 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.', {
      code: 'invalid_key',
      attr: 'key',
    });
  }
  if (fields.bucketing_identifier === 'device_id' && fields.ensure_experience_continuity === true) {
    throw refusal(
      "Cannot enable 'persist across authentication steps' when using device ID bucketing. These features are incompatible.",
    );
  }
  if (fields.has_encrypted_payloads === true && fields.is_remote_configuration !== true) {
    throw refusal('Encrypted payloads require the flag to be a remote configuration.');
  }
  if (fields.archived && fields.active) {
    throw refusal(
      before?.archived === true
        ? 'Cannot enable an archived feature flag. Unarchive it first.'
        : 'Cannot archive an enabled feature flag. Disable it first.',
    );
  }
}

export function refusal(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input' });
}

/** Maximum number of flags per environment. Each gateway keeps the definitions of all its projects in memory. */
const maxFlags = 20_000;
const maxMebibytes = 32;
/** Maximum number of regular expressions per environment. Each compiled expression uses about 20 KB of memory. */
const maxPatterns = 2000;

/**
 * Checks the limits of the environment. Call this function after writing a flag that adds to the environment's total.
 * @throws AppError `invalid`
 */
export async function checkFlagLimits(sql: Sql, environmentId: number): Promise<void> {
  const { count, bytes, patterns } = await measureFlags(sql, environmentId);
  if (count > maxFlags) {
    throw limitExceeded(`A project can have at most ${maxFlags} feature flags. Delete flags that you no longer need.`);
  }
  if (bytes > maxMebibytes * 1024 * 1024) {
    throw limitExceeded(
      `The filters of all feature flags in a project must not exceed ${maxMebibytes} MiB in total. Simplify filters, or delete flags.`,
    );
  }
  if (patterns > maxPatterns) {
    throw limitExceeded(
      `The feature flags of a project can contain at most ${maxPatterns} regular expressions in total. Remove some of them.`,
    );
  }
}

function limitExceeded(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'limit_exceeded' });
}

const enrollmentOf = (key: string) => `$feature_enrollment/${key}`;

/**
 * When a flag's key changes, renames the property in its early-access condition. Persons' early-access choices are
 * stored under the flag key, and older flags have a condition that reads them.
 */
export function renameEnrollment(fields: FlagFields, keyBefore: string): FlagFields {
  const { super_groups: superGroups } = fields.filters;
  if (fields.key === keyBefore || !Array.isArray(superGroups)) return fields;
  const renamed = superGroups.map((group: unknown) =>
    isObject(group) && Array.isArray(group.properties)
      ? { ...group, properties: group.properties.map((filter: unknown) => renameIn(filter, fields.key, keyBefore)) }
      : group,
  );
  return { ...fields, filters: { ...fields.filters, super_groups: renamed } };
}

function renameIn(filter: unknown, key: string, keyBefore: string): unknown {
  return isObject(filter) && filter.key === enrollmentOf(keyBefore) ? { ...filter, key: enrollmentOf(key) } : filter;
}

/** Clients send this version number to skip the conflict check. */
const unchecked = -1;

/**
 * Rejects a change to a field that another user has changed in the meantime. Clients can send the flag as it was when
 * the user began to edit it: its `version`, and all its fields as `original_flag`.
 * @param current the flag as the API currently shows it
 * @throws AppError `conflict`
 */
export function rejectConflictingEdit(
  changes: FlagChanges,
  current: Record<string, unknown> & { version: number; last_modified_by: { email: string } | null },
): void {
  const { version, original_flag: original, ...sent } = changes;
  if (version === undefined || version === unchecked || version === current.version || !original) return;
  const conflicting = Object.entries(sent).some(
    ([field, value]) =>
      Object.hasOwn(original, field) && !isSame(value, original[field]) && !isSame(original[field], current[field]),
  );
  if (!conflicting) return;
  throw new AppError(
    'conflict',
    `The feature flag was updated by ${current.last_modified_by?.email ?? 'another user'} since you started editing it. Please refresh ` +
      'and try again.',
  );
}

/** Compares two values. Ignores display names in filters, because renaming a cohort does not change the flag. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, other);
  return isDeepStrictEqual(removeNamesInFilters(one), removeNamesInFilters(other));
}
