import type { Sql } from '@millrace/db/sql';
import type { CompiledFlags, EvaluationContext, NeededData, StoredData } from '@millrace/flags';
import { findHashKeyOverrides } from './hash-key-overrides.ts';
import { findGroupProperties, findPersonProperties, findStaticCohorts } from './request-data-store.ts';

export interface StoredDataRequest extends Pick<EvaluationContext, 'distinctId' | 'anonymousDistinctId'> {
  environmentId: number;
  flags: CompiledFlags;
  needed: NeededData;
  /** Told of each question that failed; what it was about is `unavailable`. */
  onFailure(error: unknown): void;
}

/** Reads what an evaluation needs, at most one question of a kind, all at once, and none that is not needed. Never rejects. */
export async function loadStoredData(sql: Sql, request: StoredDataRequest): Promise<StoredData> {
  const { environmentId, flags, needed, onFailure } = request;
  const orUnavailable = <T>(answer: Promise<T>): Promise<T | 'unavailable'> =>
    answer.catch((error: unknown) => {
      onFailure(error);
      return 'unavailable' as const;
    });
  const [personProperties, groupProperties, staticCohorts, hashKeyOverrides] = await Promise.all([
    needed.personProperties.length > 0
      ? orUnavailable(findPersonProperties(sql, request, needed.personProperties))
      : {},
    needed.groups.length > 0 ? orUnavailable(groupsByType(sql, environmentId, needed.groups)) : new Map(),
    needed.staticCohorts.length > 0 ? orUnavailable(cohortsOf(sql, request)) : new Set<number>(),
    needed.hashKeyOverrides
      ? orUnavailable(findHashKeyOverrides(sql, { ...request, flagKeys: keepingFlags(flags) }))
      : new Map(),
  ]);
  return { personProperties, groupProperties, staticCohorts, hashKeyOverrides };
}

/** Whether anything has to be read. */
export function needsStoredData({ personProperties, groups, staticCohorts, hashKeyOverrides }: NeededData): boolean {
  return hashKeyOverrides || [personProperties, groups, staticCohorts].some((list) => list.length > 0);
}

async function groupsByType(sql: Sql, environmentId: number, groups: NeededData['groups']) {
  const rows = await findGroupProperties(sql, environmentId, groups);
  return new Map(rows.map(({ groupType, properties }) => [groupType, properties]));
}

async function cohortsOf(sql: Sql, request: StoredDataRequest): Promise<ReadonlySet<number>> {
  return new Set(await findStaticCohorts(sql, request, request.needed.staticCohorts));
}

function keepingFlags({ inOrder }: CompiledFlags): string[] {
  return inOrder.filter((flag) => flag.keepsExperience).map(({ key }) => key);
}
