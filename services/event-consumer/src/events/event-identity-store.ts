import type { Transaction } from '@millrace/db';

/** What makes a repeated event the same event, whatever timestamp the repetition carries. */
export interface EventIdentity {
  projectId: number;
  uuid: string;
  timestampMs: number;
}

/**
 * Inserts the identities that are new and returns their keys (`eventIdentityKey`). An event whose identity is not among
 * them was decided before, or is being decided by a batch this statement has waited for. Rows are inserted in the order
 * of (project, uuid): part of the lock order in identity/ledger-store.ts. The identities must differ from each other.
 */
export async function insertIdentities(tx: Transaction, identities: EventIdentity[]): Promise<Set<string>> {
  if (identities.length === 0) return new Set();
  const rows = await tx.query<{ project_id: number; uuid: string }>(
    `INSERT INTO event_identity (project_id, uuid, timestamp)
     SELECT project_id, uuid, to_timestamp(timestamp_ms / 1000.0)
       FROM unnest($1::int[], $2::uuid[], $3::bigint[]) AS e (project_id, uuid, timestamp_ms)
      ORDER BY project_id, uuid
         ON CONFLICT DO NOTHING
     RETURNING project_id, uuid`,
    [
      identities.map(({ projectId }) => projectId),
      identities.map(({ uuid }) => uuid),
      identities.map(({ timestampMs }) => timestampMs),
    ],
  );
  return new Set(rows.map((row) => eventIdentityKey(row.project_id, row.uuid)));
}

export function eventIdentityKey(projectId: number, uuid: string): string {
  return `${projectId}:${uuid}`;
}
