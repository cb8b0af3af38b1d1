// Declares the route that counts or estimates how many persons or groups match a flag's release condition.

import type { Sql } from '@millrace/db';
import {
  type CompiledFlags,
  evaluateFlagsInSteps,
  nothingStored,
  type Steps,
  selectFlags,
  validatePatterns,
} from '@millrace/flags';
import { createFiltersAudience, createPageSizer, matchPersons } from '@millrace/flags/cohorts';
import { compileDefinitions, loadDefinitions, runInTimeSlices } from '@millrace/flags/store';
import { freeFormObject } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { requireReferencedRecords } from '../../../access/named-records.ts';
import { requireScope } from '../../../access/require-scope.ts';
import { countGroups, readGroupPage, type StoredGroup } from '../../../analytics/groups/store.ts';
import { checkReferences } from '../changes/references.ts';
import type { FlagFilters } from '../filters/filters.ts';
import { parseFlagFilters } from '../filters/parse.ts';
import type { FlagDeps } from '../payloads.ts';
import { flagsPath, flagTags as tags } from '../schema.ts';

const requestBody = Type.Object(
  {
    condition: Type.Optional(
      Type.Union([freeFormObject(), Type.Null()], {
        description: "A condition set in the format of a feature flag's `filters`.",
      }),
    ),
    group_type_index: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 4 }), Type.Null()], {
        description: 'Index of a group type, to count groups of this type instead of persons.',
      }),
    ),
  },
  { title: 'BlastRadiusQuestion' },
);
const radius = Type.Object(
  {
    users_affected: Type.Integer({
      description: 'Number of persons or groups that match the filters, regardless of the rollout percentage.',
    }),
    total_users: Type.Integer({ description: 'Total number of persons, or of groups of this type.' }),
    is_estimate: Type.Boolean({ description: 'Whether the two counts are estimates based on a sample.' }),
  },
  { title: 'BlastRadius' },
);

export function flagBlastRadiusRoute({ sql, searches }: Pick<FlagDeps, 'sql' | 'searches'>) {
  return defineRoutes({
    method: 'POST',
    below: environmentBasePaths(sql),
    path: `${flagsPath}/user_blast_radius`,
    operationId: 'feature_flags_user_blast_radius',
    summary: 'Count the persons who match a release condition',
    description:
      `Counts the persons, or the groups of a type, that match the filters of a condition set. If there are more than ${maxSample} ` +
      `persons or groups, or if counting takes longer than ${maxMs / 1000} seconds, the result is an estimate based on those that were ` +
      'counted. Also requires the scope `person:read`, or `group:read` for groups.',
    tags,
    scope: 'feature_flag:read',
    body: requestBody,
    responses: { 200: { description: 'The number of persons or groups.', schema: radius } },
    examples: {
      request: { condition: { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] } },
      response: { users_affected: 120, total_users: 1000, is_estimate: false },
    },
    handler: async ({ caller, target, body: { condition, group_type_index: groupType = null } }) => {
      requireScope(caller, groupType === null ? 'person:read' : 'group:read');
      const { environmentId } = target;
      if (!condition) {
        const detail = 'Missing condition for which to get blast radius';
        throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'condition' });
      }
      await requireReferencedRecords(sql, target, condition);
      const { aggregation_group_type_index: _, variant: __, ...conditionAlone } = condition;
      const sent = {
        aggregation_group_type_index: groupType,
        groups: [{ ...conditionAlone, rollout_percentage: 100 }],
      };
      const tried = await runInTimeSlices(validatePatterns(sent));
      const filters = parseFlagFilters({ sent, stored: null, tried });
      await checkReferences(sql, { environmentId, id: null, key: '', filters });
      const { affected, total, isEstimate } = await searches.run({ caller, target }, null, (on) =>
        groupType === null
          ? personBlastRadius(on, environmentId, filters)
          : groupBlastRadius(on, { environmentId, groupType }, filters),
      );
      return { users_affected: affected, total_users: total, is_estimate: isEstimate };
    },
  });
}

/** Maximum number of persons or groups to read. Reading more would hardly change the result. */
const maxSample = 10_000;
const maxMs = 3000;

interface BlastRadius {
  affected: number;
  total: number;
  /** Whether the counts are extrapolated from a sample. */
  isEstimate: boolean;
}

/**
 * Counts the persons who match the filters. Person UUIDs are hashes, so the persons with the lowest UUIDs are a random
 * sample. The sample's highest UUID shows what share of all persons it contains, and therefore their total number.
 */
async function personBlastRadius(sql: Sql, environmentId: number, filters: FlagFilters): Promise<BlastRadius> {
  const endsAt = performance.now() + maxMs;
  const audience = await createFiltersAudience(sql, environmentId, filters);
  let readCount = 0;
  let affected = 0;
  for await (const page of matchPersons(sql, environmentId, { audience })) {
    readCount += page.length;
    affected += page.filter(({ matches }) => matches[0] === true).length;
    const last = page.at(-1)?.uuid;
    if (last === undefined || (readCount < maxSample && performance.now() < endsAt)) continue;
    const total = Math.max(readCount, Math.round(readCount / shareUpTo(last)));
    return { affected: Math.round((affected / readCount) * total), total, isEstimate: true };
  }
  return { affected, total: readCount, isEstimate: false };
}

/** Returns the share of all possible UUIDs that are lower than this UUID, from 0 to 1. */
function shareUpTo(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16) / 16 ** 12;
}

/**
 * Counts the groups of a type that match the filters. Estimates the count if there are more groups than the maximum.
 */
async function groupBlastRadius(
  sql: Sql,
  groups: { environmentId: number; groupType: number },
  filters: FlagFilters,
): Promise<BlastRadius> {
  const endsAt = performance.now() + maxMs;
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
  const pageLimit = createPageSizer();
  let readCount = 0;
  let affected = 0;
  for (let after: string | null = null; ; ) {
    const page: StoredGroup[] = await readGroupPage(sql, groups, { after, limit: pageLimit.next() });
    if (page.length === 0) return { affected, total: readCount, isEstimate: false };
    readCount += page.length;
    affected += await runInTimeSlices(countMatches(flags, groups.groupType, page));
    pageLimit.note(page.length);
    after = page.at(-1)?.group_key ?? null;
    if (readCount < maxSample && performance.now() < endsAt) continue;
    const total = Math.max(readCount, await countGroups(sql, groups));
    return { affected: Math.round((affected / readCount) * total), total, isEstimate: true };
  }
}

function* countMatches(flags: CompiledFlags, groupType: number, page: StoredGroup[]): Steps<number> {
  const selected = selectFlags(flags, {});
  const typeName = flags.groupTypes.get(groupType) ?? '';
  let count = 0;
  for (const { group_key: key, group_properties: properties } of page) {
    const { results } = yield* evaluateFlagsInSteps(flags, selected, {
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
