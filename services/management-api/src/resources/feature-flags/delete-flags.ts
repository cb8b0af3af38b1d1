import type { Transaction } from '@millrace/db';
import { type DependentFlag, findDependentFlags, findFlagsWithFeatures } from './flag-dependency-store.ts';
import type { FlagRow } from './flag-row.ts';
import { findFlags, lockFlagsOf, markDeleted } from './flag-store.ts';
import { type FlagAuthor, recordFlagActivity } from './record-flag-activity.ts';

export const maxDeletedTogether = 1000;

export interface Deletion {
  deleted: { id: number; key: string }[];
  errors: { id: unknown; key?: string; reason: string }[];
}

/** Deletes flags, those others depend on only with these. What stays is named with the reason. */
export async function deleteFlags(
  tx: Transaction,
  author: FlagAuthor & { environmentId: number },
  ids: readonly unknown[],
): Promise<Deletion> {
  const { environmentId, userId } = author;
  await lockFlagsOf(tx, environmentId);
  const numbers = ids.map(Number).filter((id) => Number.isInteger(id) && id > 0 && id <= 2_147_483_647);
  const flags = (await findFlags(tx, environmentId, numbers)).filter(({ deleted }) => !deleted);
  const { deletable, kept } = divide(flags, {
    dependent: await findDependentFlags(tx, environmentId),
    withFeatures: await findFlagsWithFeatures(tx, numbers),
  });
  await markDeleted(tx, { ids: deletable.map(({ id }) => id), userId });
  for (const before of deletable) {
    await recordFlagActivity(tx, author, { before, after: { ...before, deleted: true } });
  }
  const found = new Set(flags.map(({ id }) => id));
  const unknown = [...new Set(ids)].filter((id) => !found.has(Number(id)));
  return {
    deleted: deletable.map(({ id, key }) => ({ id, key })),
    errors: [...kept, ...unknown.map((id) => ({ id, reason: 'Flag not found' }))],
  };
}

/** Which of the flags may go: all on which nothing depends that stays. */
function divide(
  flags: readonly FlagRow[],
  { dependent, withFeatures }: { dependent: readonly DependentFlag[]; withFeatures: ReadonlySet<number> },
) {
  const going = new Set(flags.filter(({ id }) => !withFeatures.has(id)).map(({ id }) => id));
  // What stays keeps what it needs, which keeps what it needs.
  const staying = dependent.filter(({ id }) => !going.has(id));
  for (let flag = staying.pop(); flag !== undefined; flag = staying.pop()) {
    for (const needed of flag.needs) {
      if (!going.delete(needed)) continue;
      staying.push(...dependent.filter(({ id }) => id === needed));
    }
  }
  const kept = flags.filter(({ id }) => !going.has(id));
  return {
    deletable: flags.filter(({ id }) => going.has(id)),
    kept: kept.map(({ id, key }) => ({
      id,
      key,
      reason: withFeatures.has(id) ? 'Flag is in use with early access features' : 'Other flags depend on it',
    })),
  };
}
