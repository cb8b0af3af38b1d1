import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { listDistinctIds } from '../distinct-ids/distinct-id-store.ts';
import { listPersonsOfDistinctIds } from './event-person-store.ts';
import type { EventRow } from './event-store.ts';
import { parseElements } from './parse-elements.ts';

/** Events as the API shows them, each with the person its distinct id belongs to now. Two queries, however many events. */
export async function withCurrentPersons(sql: Sql, projectId: number, rows: EventRow[]) {
  const mapped = await listPersonsOfDistinctIds(sql, projectId, [...new Set(rows.map((row) => row.distinct_id))]);
  const persons = new Map(mapped.map((person) => [person.distinct_id, person]));
  const unique = new Map(mapped.map((person) => [person.uuid, person]));
  const distinctIds = await listDistinctIds(sql, projectId, [...unique.values()]);
  return rows.map((row) => {
    const person = persons.get(row.distinct_id);
    return {
      ...row,
      id: row.uuid,
      elements: parseElements(row.elements_chain),
      timestamp: formatDateTime(row.timestamp),
      person: person
        ? {
            uuid: person.uuid,
            distinct_ids: distinctIds.get(person.uuid) ?? [person.main_distinct_id],
            properties: person.properties,
          }
        : { uuid: row.person_id, distinct_ids: [row.distinct_id], properties: row.person_properties },
    };
  });
}
