import { isRestrictionKind, type Restriction } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

export async function selectRestrictions(sql: Sql): Promise<Restriction[]> {
  const rows = await sql.query<{ kind: string; token: string; distinct_id: string }>(
    'SELECT kind, token, distinct_id FROM ingestion_restriction',
    [],
  );
  return rows.flatMap(({ kind, token, distinct_id }) =>
    // Ignore restriction kinds that a newer version of Millrace has added.
    isRestrictionKind(kind) ? [{ kind, token, distinctId: distinct_id === '' ? null : distinct_id }] : [],
  );
}
