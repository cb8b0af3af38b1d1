import { type CopyRow, copyRows, type Sql, type Transaction } from '@millrace/db/sql';
import { insertNew } from '../failures/ledger-conflict.ts';

/** What makes a repeated event the same event, whatever timestamp the repetition carries. */
export interface EventIdentity {
  projectId: number;
  uuid: string;
  timestampMs: number;
}

/** Those of the identities that are stored already, by their keys (`eventIdentityKey`). Takes no locks. */
export async function readIdentities(tx: Sql, identities: EventIdentity[]): Promise<Set<string>> {
  if (identities.length === 0) return new Set();
  const rows = await tx.query<{ project_id: number; uuid: string }>(
    // LATERAL with LIMIT looks into the index once for each event. For a plain join the planner may read the whole
    // table.
    `SELECT stored.project_id, stored.uuid
       FROM unnest($1::int[], $2::uuid[]) AS sought (project_id, uuid)
      CROSS JOIN LATERAL (SELECT i.project_id, i.uuid FROM event_identity i
                           WHERE i.project_id = sought.project_id AND i.uuid = sought.uuid LIMIT 1) AS stored`,
    [identities.map(({ projectId }) => projectId), identities.map(({ uuid }) => uuid)],
  );
  return new Set(rows.map((row) => eventIdentityKey(row.project_id, row.uuid)));
}

/**
 * Inserts identities in the order of (project, uuid): part of the lock order in ledger/ledger-store.ts. Waits for a
 * batch that is storing one of them.
 *
 * @throws LedgerConflict when one of them is stored already.
 */
export async function insertIdentities(tx: Transaction, identities: EventIdentity[]): Promise<void> {
  if (identities.length === 0) return;
  const inOrder = identities.toSorted((a, b) => a.projectId - b.projectId || (a.uuid < b.uuid ? -1 : 1));
  await insertNew('an event', tx.copy(copyStatement, copyRows(3, inOrder, writeIdentity)));
}

const copyStatement = 'COPY event_identity (project_id, uuid, timestamp) FROM STDIN (FORMAT binary)';

function writeIdentity(row: CopyRow, { projectId, uuid, timestampMs }: EventIdentity): void {
  row.integer(projectId);
  row.uuid(uuid);
  row.time(timestampMs);
}

export function eventIdentityKey(projectId: number, uuid: string): string {
  return `${projectId}:${uuid}`;
}
