import type { Sql } from '@millrace/db/sql';
import { findHashKeys, type HashKeyRow, keepHashKeys } from './request-data-store.ts';

export interface HashKeyRequest {
  environmentId: number;
  distinctId: string;
  anonymousDistinctId?: string | undefined;
  /** Keys of all active flags that keep the experience. */
  flagKeys: readonly string[];
}

/**
 * The ids to hash instead of the person's own, by key of the flag. A request that says who the person was before logging in
 * makes that id stay for all such flags of which no row says otherwise; persons nobody has heard of get no rows.
 */
export async function findHashKeyOverrides(sql: Sql, request: HashKeyRequest): Promise<ReadonlyMap<string, string>> {
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
    await keepHashKeys(sql, environmentId, { personUuids, flagKeys: missing, hashKey: anonymousDistinctId }),
    ownUuid,
  );
  return overrides;
}

/** Where two persons have a row for one flag, that of the distinct id's person counts. */
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
