import type { Transaction } from '@millrace/db/sql';
import { type Ledger, setDeletedId } from '../model/ledger.ts';
import { readDeletedIds } from './deleted-id-store.ts';
import type { DistinctIdKey } from './ledger-rows.ts';

/** Adds to the ledger which of the ids were deleted. One more statement, and only for projects that deleted anybody. */
export async function loadDeletedIds(
  tx: Transaction,
  ledger: Ledger,
  ids: DistinctIdKey[],
  withDeletions: ReadonlySet<number>,
): Promise<void> {
  if (withDeletions.size === 0) return;
  const concerned = ids.filter(({ projectId }) => withDeletions.has(projectId));
  for (const { projectId, distinctId, deleted } of await readDeletedIds(tx, concerned)) {
    const project = ledger.projects.get(projectId);
    if (project !== undefined) setDeletedId(project, distinctId, deleted);
  }
}
