import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import { withoutNamesInFilters } from '../filters/filters.ts';
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

/** A new flag with its defaults, but for its filters, which are checked on their own. */
export function fieldsOfNew(body: NewFlag): FlagFields {
  return withChanges({ ...defaults, key: body.key }, body);
}

/** What is not sent stays as it is. Filters stay in any case. */
export function withChanges(fields: FlagFields, changes: FlagChanges): FlagFields {
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
    ...fieldsOf(fields),
    ...others,
    name: name === undefined ? fields.name : (name ?? ''),
    evaluation_contexts: evaluation_contexts ?? evaluation_tags ?? fields.evaluation_contexts,
    // Who turns a flag on again has looked at why it was rolled back.
    ...(changes.active === true && { performed_rollback: false }),
  };
}

/** The fields alone, of a row that may have more. */
export function fieldsOf(fields: FlagFields): FlagFields {
  const names = ['key', ...Object.keys(defaults)] as (keyof FlagFields)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as unknown as FlagFields;
}

/**
 * The rules that look at a flag alone, and at what it was before.
 * @throws AppError `invalid`, naming what does not go together.
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

/** Every gateway keeps the definitions of the projects it is asked for in memory. */
const mostFlags = 20_000;
const mostMebibytes = 32;
/** A compiled one takes some 20 KB. */
const mostPatterns = 2000;

/** Called after a flag was written that adds to those of its environment. @throws AppError `invalid`. */
export async function checkFlagLimits(sql: Sql, environmentId: number): Promise<void> {
  const { count, bytes, patterns } = await measureFlags(sql, environmentId);
  if (count > mostFlags) {
    throw limitExceeded(`A project can have at most ${mostFlags} feature flags. Delete flags that you no longer need.`);
  }
  if (bytes > mostMebibytes * 1024 * 1024) {
    throw limitExceeded(
      `The filters of all feature flags in a project must not exceed ${mostMebibytes} MiB in total. Simplify filters, or delete flags.`,
    );
  }
  if (patterns > mostPatterns) {
    throw limitExceeded(
      `The feature flags of a project can contain at most ${mostPatterns} regular expressions in total. Remove some of them.`,
    );
  }
}

function limitExceeded(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'limit_exceeded' });
}

const enrollmentOf = (key: string) => `$feature_enrollment/${key}`;

/** What persons chose lies under the key of the flag: the condition on it that older flags have follows a new key. */
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

/** The version of a client that wants no check. */
const unchecked = -1;

/**
 * Whoever changes a flag may say what it looked like when they began: its `version` and the flag itself, `original_flag`.
 * Then a field that somebody else has changed meanwhile is not overwritten.
 *
 * @param current the flag as it is shown now.
 * @throws AppError `conflict`.
 */
export function refuseConflict(
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

/** Names in filters are those of others: who renames a cohort does not change the flag. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, other);
  return isDeepStrictEqual(withoutNamesInFilters(one), withoutNamesInFilters(other));
}
