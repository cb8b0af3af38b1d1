import type { Sql } from '@millrace/db';
import { compileDefinitions, inTimeSlices, loadDefinitions } from '@millrace/flag-store';
import { type CompiledFlags, evaluateFlags, nothingStored, type Steps, selectFlags } from '@millrace/flags';
import type { FlagFilters } from '../filters/flag-filters.ts';
import { countGroups, readGroupPage, type StoredGroup } from './group-page-store.ts';
import { type BlastRadius, mostLookedAt } from './person-blast-radius.ts';

const portion = 500;

/** How many groups of a type have what filters ask for; of more than are looked at, an estimate. */
export async function groupBlastRadius(
  sql: Sql,
  groups: { environmentId: number; groupType: number },
  filters: FlagFilters,
): Promise<BlastRadius> {
  const definitions = await loadDefinitions(sql, groups.environmentId);
  if (definitions === null) return { affected: 0, total: 0, isEstimate: false };
  const flag = {
    id: 0,
    key: 'condition',
    active: true,
    name: '',
    version: 1,
    filters,
    has_encrypted_payloads: null,
    evaluation_contexts: [],
  };
  const flags = await compileDefinitions({ ...definitions, flags: [flag] });
  let looked = 0;
  let affected = 0;
  for (let after: string | null = null; ; ) {
    const page: StoredGroup[] = await readGroupPage(sql, groups, { after, limit: portion });
    if (page.length === 0) return { affected, total: looked, isEstimate: false };
    looked += page.length;
    affected += await inTimeSlices(countMatches(flags, groups.groupType, page));
    after = page.at(-1)?.group_key ?? null;
    if (looked < mostLookedAt) continue;
    const total = Math.max(looked, await countGroups(sql, groups));
    return { affected: Math.round((affected / looked) * total), total, isEstimate: true };
  }
}

function* countMatches(flags: CompiledFlags, groupType: number, page: StoredGroup[]): Steps<number> {
  const selected = selectFlags(flags, {});
  const typeName = flags.groupTypes.get(groupType) ?? '';
  let count = 0;
  for (const { group_key: key, group_properties: properties } of page) {
    const { results } = evaluateFlags(flags, selected, {
      distinctId: '',
      groups: { [typeName]: key },
      personProperties: {},
      groupProperties: {},
      stored: { ...nothingStored, groupProperties: new Map([[groupType, properties]]) },
      now: Date.now(),
    });
    if (results[0]?.enabled === true) count += 1;
    yield;
  }
  return count;
}
