import type { Sql } from '@millrace/db';
import { conditionFiltersIn, mapConditionFilters } from './filters/map-condition-filters.ts';
import { findCohortNames, findGroupNames, type GroupReference } from './flag-name-store.ts';

/** Of one page: names are many times as long as the numbers they stand beside. */
const mostNames = 2000;
const largestId = 2_147_483_647;

interface FiltersOf {
  environmentId: number;
  filters: Record<string, unknown>;
}

interface Found extends FiltersOf {
  filter: Record<string, unknown>;
}

/**
 * Filters of flags with what cohorts and groups are called that they name: `cohort_name` and `group_key_names`. Two queries
 * for all flags of a page, and none where they name nothing.
 * @returns the filters in the order of the flags.
 */
export async function withNames(sql: Sql, flags: readonly FiltersOf[]): Promise<Record<string, unknown>[]> {
  const found = flags.flatMap((flag) => conditionFiltersIn(flag.filters).map((filter) => ({ ...flag, filter })));
  const [cohortNames, groupNames] = await Promise.all([ofCohorts(sql, found), ofGroups(sql, found)]);
  return flags.map(({ filters }) =>
    mapConditionFilters(filters, (filter) => ({ ...filter, ...cohortNames.get(filter), ...groupNames.get(filter) })),
  );
}

/** What each filter gets, by the filter. */
type Added = Map<Record<string, unknown>, Record<string, unknown>>;

async function ofCohorts(sql: Sql, found: readonly Found[]): Promise<Added> {
  const references = found
    .map(({ environmentId, filter }) => ({ environmentId, filter, cohortId: Number(filter.value) }))
    .filter(({ filter, cohortId }) => filter.type === 'cohort' && isId(cohortId))
    .slice(0, mostNames);
  const names = await findCohortNames(sql, references);
  const named = references.filter(({ cohortId }) => names.has(cohortId));
  return new Map(named.map(({ filter, cohortId }) => [filter, { cohort_name: names.get(cohortId) }]));
}

async function ofGroups(sql: Sql, found: readonly Found[]): Promise<Added> {
  const references = found.flatMap(groupsOf).slice(0, mostNames);
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

/** The groups a filter names by their keys. */
function groupsOf({ environmentId, filter }: Found): (GroupReference & Pick<Found, 'filter'>)[] {
  const { type, key, value, group_type_index: groupTypeIndex } = filter;
  if (type !== 'group' || key !== '$group_key' || typeof groupTypeIndex !== 'number') return [];
  const keys = [value].flat().filter((one) => typeof one === 'string');
  return keys.map((groupKey) => ({ environmentId, filter, groupTypeIndex, groupKey }));
}

function textOf({ environmentId, groupTypeIndex, groupKey }: GroupReference): string {
  return JSON.stringify([environmentId, groupTypeIndex, groupKey]);
}

function isId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id <= largestId;
}
