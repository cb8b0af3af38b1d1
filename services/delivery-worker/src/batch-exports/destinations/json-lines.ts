import type { EventRecord, PersonRecord } from '../records/export-records.ts';

/** One event as a line. JSON columns are put in as the text they are. */
export function eventLine(row: EventRecord, environmentId: number): string {
  const { uuid, event, distinct_id, person_id, elements_chain, timestamp, created_at } = row;
  const plain = JSON.stringify({
    uuid,
    event,
    distinct_id,
    team_id: environmentId,
    person_id,
    elements_chain,
    timestamp,
    created_at,
  });
  return `${plain.slice(0, -1)},"properties":${row.properties},"person_properties":${row.person_properties}}\n`;
}

/** One distinct id with its person as a line. */
export function personLine(row: PersonRecord, environmentId: number): string {
  const { distinct_id, person_id, is_identified, created_at } = row;
  const [person_version, person_distinct_id_version] = [Number(row.version), Number(row.person_distinct_id_version)];
  const plain = {
    team_id: environmentId,
    distinct_id,
    person_id,
    is_identified,
    person_distinct_id_version,
    person_version,
  };
  return `${JSON.stringify({ ...plain, created_at }).slice(0, -1)},"properties":${row.properties}}\n`;
}
