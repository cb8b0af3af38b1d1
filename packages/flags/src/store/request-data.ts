// Loads the stored data for the person and groups in a flag request.

import type { Sql } from '@millrace/db/sql';
import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext, StoredData } from '../evaluate/context.ts';
import type { NeededData } from '../evaluate/needed-data.ts';
import {
  findGroupProperties,
  findHashKeys,
  findPersonProperties,
  findStaticCohorts,
  type HashKeyRow,
  storeHashKeys,
} from './request-data-store.ts';

export interface StoredDataRequest extends Pick<EvaluationContext, 'distinctId' | 'anonymousDistinctId'> {
  environmentId: number;
  flags: CompiledFlags;
  needed: NeededData;
  /** Called for each failed query. The data that the query would have returned is then `unavailable`. */
  onFailure(error: unknown): void;
}

/**
 * Loads the data that an evaluation needs, with concurrent queries: at most one for each kind of data that is needed.
 * Never rejects.
 */
export async function loadStoredData(sql: Sql, request: StoredDataRequest): Promise<StoredData> {
  const { environmentId, flags, needed, onFailure } = request;
  const orUnavailable = <T>(lookup: Promise<T>): Promise<T | 'unavailable'> =>
    lookup.catch((error: unknown) => {
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

interface HashKeyRequest {
  environmentId: number;
  distinctId: string;
  anonymousDistinctId?: string | undefined;
  /** Keys of all active flags with experience continuity. */
  flagKeys: readonly string[];
}

/**
 * Returns the IDs to hash instead of the person's own ID, by flag key. If the request contains the person's ID before
 * login, stores this ID for all flags in `flagKeys` that have no stored ID yet. Stores nothing for unknown persons.
 */
async function findHashKeyOverrides(sql: Sql, request: HashKeyRequest): Promise<ReadonlyMap<string, string>> {
  const { environmentId, distinctId, anonymousDistinctId, flagKeys } = request;
  const ids = anonymousDistinctId === undefined ? [distinctId] : [distinctId, anonymousDistinctId];
  const rows = await findHashKeys(sql, environmentId, ids);
  const ownUuid = rows.find((row) => row.distinctId === distinctId)?.personUuid;
  const overrides = new Map<string, string>();
  add(overrides, rows, ownUuid);
  const missing = flagKeys.filter((key) => !overrides.has(key));
  if (anonymousDistinctId === undefined || rows.length === 0 || missing.length === 0) return overrides;
  const personUuids = [...new Set(rows.map(({ personUuid }) => personUuid))];
  add(
    overrides,
    await storeHashKeys(sql, environmentId, { personUuids, flagKeys: missing, hashKey: anonymousDistinctId }),
    ownUuid,
  );
  return overrides;
}

/** If two persons have a row for the same flag, the row of the distinct ID's person takes precedence. */
function add(
  overrides: Map<string, string>,
  rows: readonly Omit<HashKeyRow, 'distinctId'>[],
  ownUuid: string | undefined,
): void {
  const ownLast = [
    ...rows.filter((row) => row.personUuid !== ownUuid),
    ...rows.filter((row) => row.personUuid === ownUuid),
  ];
  for (const { flagKey, hashKey } of ownLast) if (flagKey !== null && hashKey !== null) overrides.set(flagKey, hashKey);
}
