// Converts stored feature flags to API responses. Adds the names of cohorts and groups, and each flag's status.

import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { findSdkWarnings, readCohortFilterId } from '@millrace/flags';
import { formatDateTime } from '@millrace/http';
import { createVisibilityCheck, hasRecordLevel, type RecordRights, toRecordName } from '../../access/record-rights.ts';
import { findCohortNames, findGroupNames, type GroupReference } from './changes/reference-store.ts';
import { listConditionFilters, mapConditionFilters } from './filters/filters.ts';
import { decryptFilters, type PayloadSecrets, redactFilters } from './payloads.ts';
import type { FlagRow } from './store.ts';

type FeatureFlag = ReturnType<typeof toFeatureFlag>;

export async function showFlags(sql: Sql, rows: readonly FlagRow[], rights: RecordRights): Promise<FeatureFlag[]> {
  const shown = await addCohortAndGroupNames(
    sql,
    rows.map((row) => ({ environmentId: row.environment_id, filters: redactFilters(row) })),
    rights,
  );
  return rows.map((row, index) => toFeatureFlag(row, shown[index] ?? {}, mayEdit(row, rights)));
}

export async function showFlag(
  sql: Sql,
  row: FlagRow,
  { secrets, rights }: { secrets: PayloadSecrets; rights: RecordRights },
): Promise<FeatureFlag> {
  const filters = decryptFilters(row, secrets);
  const [shown = filters] = await addCohortAndGroupNames(sql, [{ environmentId: row.environment_id, filters }], rights);
  return toFeatureFlag(row, shown, mayEdit(row, rights));
}

const mayEdit = (row: FlagRow, rights: RecordRights) =>
  hasRecordLevel(rights, 'feature_flag', 'editor', toRecordName(row));

/** Converts a flag to an API response. @param filters the filters with the payloads that the caller can see */
export function toFeatureFlag(row: FlagRow, filters: Record<string, unknown>, isEditable: boolean) {
  const { rollout_percentage: _, environment_id: __, is_stale: ___, ...fields } = row;
  const simple = simpleRollout(filters);
  return {
    ...fields,
    filters,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    last_called_at: row.last_called_at && formatDateTime(row.last_called_at),
    evaluation_tags: row.evaluation_contexts,
    is_simple_flag: simple !== undefined,
    rollout_percentage: simple ?? null,
    status: flagStatus(row).toUpperCase(),
    can_edit: isEditable,
    user_access_level: isEditable ? 'editor' : 'viewer',
    // The following fields are constant. They belong to PostHog products that Millrace does not implement.
    rollback_conditions: row.rollback_conditions ?? [],
    usage_dashboard: null,
    analytics_dashboards: [],
    experiment_set: [],
    surveys: [],
    features: [],
    sdk_warnings: findSdkWarnings({ ...row, filters }),
  };
}

/**
 * Returns the rollout percentage if a flag has no variants and only one condition, which has no filters. Returns
 * undefined for any other flag.
 */
function simpleRollout({ groups, multivariate }: Record<string, unknown>): number | null | undefined {
  const [condition, ...others] = Array.isArray(groups) ? groups : [];
  const variants = isObject(multivariate) && Array.isArray(multivariate.variants) ? multivariate.variants : [];
  if (!isObject(condition) || others.length > 0 || variants.length > 0) return undefined;
  const hasFilters = Array.isArray(condition.properties) && condition.properties.length > 0;
  if (hasFilters) return undefined;
  return typeof condition.rollout_percentage === 'number' ? condition.rollout_percentage : null;
}

export function toMinimalFlag(row: FlagRow) {
  return {
    id: row.id,
    team_id: row.environment_id,
    name: row.name,
    key: row.key,
    filters: redactFilters(row),
    deleted: row.deleted,
    active: row.active,
    ensure_experience_continuity: row.ensure_experience_continuity,
    has_encrypted_payloads: row.has_encrypted_payloads,
    version: row.version,
    evaluation_runtime: row.evaluation_runtime,
    bucketing_identifier: row.bucketing_identifier,
    evaluation_contexts: row.evaluation_contexts,
    evaluation_tags: row.evaluation_contexts,
  };
}

type FlagStatus = 'active' | 'stale' | 'archived' | 'deleted';

type StatusFields = Pick<FlagRow, 'deleted' | 'archived' | 'is_stale'>;

export function flagStatus({ deleted, archived, is_stale }: StatusFields): FlagStatus {
  if (deleted) return 'deleted';
  if (archived) return 'archived';
  return is_stale ? 'stale' : 'active';
}

export function flagStatusReason(flag: StatusFields & Pick<FlagRow, 'active' | 'last_called_at'>): string {
  switch (flagStatus(flag)) {
    case 'deleted':
      return 'Flag has been deleted';
    case 'archived':
      return 'Flag has been archived';
    case 'stale':
      return flag.last_called_at === null
        ? 'Flag was never called, is more than 30 days old and is rolled out to everyone'
        : 'Flag has not been called for 30 days';
    case 'active':
      return flag.active ? 'Flag is in use' : 'Flag is disabled';
  }
}

/** Maximum number of names on a page. Names can be much longer than IDs. */
const maxNames = 2000;

interface FiltersOf {
  environmentId: number;
  filters: Record<string, unknown>;
}

interface Found extends FiltersOf {
  filter: Record<string, unknown>;
}

/**
 * Adds the names of cohorts and groups to the filters of flags, in `cohort_name` and `group_key_names`. Runs two
 * queries for all flags of a page, or none if no filter refers to a cohort or group. Omits the names of cohorts that
 * the caller cannot see.
 * @param rights the caller's rights in the environment of the flags
 * @returns the filters in the order of the flags
 */
export async function addCohortAndGroupNames(
  sql: Sql,
  flags: readonly FiltersOf[],
  rights: RecordRights,
): Promise<Record<string, unknown>[]> {
  const found = flags.flatMap((flag) => listConditionFilters(flag.filters).map((filter) => ({ ...flag, filter })));
  const [cohortNames, groupNames] = await Promise.all([ofCohorts(sql, found, rights), ofGroups(sql, found)]);
  return flags.map(({ filters }) =>
    mapConditionFilters(filters, (filter) => ({ ...filter, ...cohortNames.get(filter), ...groupNames.get(filter) })),
  );
}

type Added = Map<Record<string, unknown>, Record<string, unknown>>;

async function ofCohorts(sql: Sql, found: readonly Found[], rights: RecordRights): Promise<Added> {
  const references = found
    .flatMap(({ environmentId, filter }) => {
      const cohortId = readCohortFilterId(filter);
      return cohortId === undefined ? [] : [{ environmentId, filter, cohortId }];
    })
    .slice(0, maxNames);
  const [first] = references;
  if (first === undefined) return new Map();
  const isSeen = await createVisibilityCheck(sql, rights, { environmentId: first.environmentId, kind: 'cohort' });
  const names = await findCohortNames(sql, references);
  const named = references.filter(({ cohortId }) => names.has(cohortId) && isSeen({ id: cohortId }));
  return new Map(named.map(({ filter, cohortId }) => [filter, { cohort_name: names.get(cohortId) }]));
}

async function ofGroups(sql: Sql, found: readonly Found[]): Promise<Added> {
  const references = found.flatMap(groupsOf).slice(0, maxNames);
  const rows = await findGroupNames(sql, references);
  const names = new Map(rows.map((row) => [textOf(row), row.name]));
  const added = new Map<Record<string, unknown>, { group_key_names: Record<string, string> }>();
  for (const reference of references) {
    const name = names.get(textOf(reference));
    if (name === undefined) continue;
    const before = added.get(reference.filter)?.group_key_names;
    added.set(reference.filter, { group_key_names: { ...before, [reference.groupKey]: name } });
  }
  return added;
}

function groupsOf({ environmentId, filter }: Found): (GroupReference & Pick<Found, 'filter'>)[] {
  const { type, key, value, group_type_index: groupTypeIndex } = filter;
  if (type !== 'group' || key !== '$group_key' || typeof groupTypeIndex !== 'number') return [];
  const keys = [value].flat().filter((one) => typeof one === 'string');
  return keys.map((groupKey) => ({ environmentId, filter, groupTypeIndex, groupKey }));
}

function textOf({ environmentId, groupTypeIndex, groupKey }: GroupReference): string {
  return JSON.stringify([environmentId, groupTypeIndex, groupKey]);
}
