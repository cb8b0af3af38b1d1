import { formatDateTime } from '@millrace/http';
import { personName } from './person-name.ts';
import type { PersonRow } from './person-row.ts';

/** A person as the API shows it. */
export function toPerson(row: PersonRow, distinctIds: string[] | undefined) {
  return {
    ...row,
    id: Number(row.id),
    name: personName(row.properties, row.main_distinct_id),
    distinct_ids: distinctIds ?? [row.main_distinct_id],
    created_at: formatDateTime(row.created_at),
  };
}
