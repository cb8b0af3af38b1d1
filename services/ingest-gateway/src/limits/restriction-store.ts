import { isRestrictionKind, type Restriction } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

/** Returns all restrictions in the table. Throws database errors. */
export async function selectRestrictions(sql: Sql): Promise<Restriction[]> {
  const rows = await sql.query<{ kind: string; token: string; distinct_id: string }>(
    'SELECT kind, token, distinct_id FROM ingestion_restriction',
    [],
  );
  return rows.flatMap(({ kind, token, distinct_id }) =>
    // Ignore restriction kinds that a later version has added.
    isRestrictionKind(kind) ? [{ kind, token, distinctId: distinct_id === '' ? null : distinct_id }] : [],
  );
}
