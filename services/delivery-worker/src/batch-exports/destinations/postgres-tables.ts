import { cutToCodePoints } from '@millrace/contracts';
import type { EventRecord, PersonRecord } from '../records/export-records.ts';

export interface Column<Row> {
  name: string;
  type: string;
  of(row: Row, run: { environment_id: number }): unknown;
}

export interface TableShape<Row = never> {
  columns: readonly Column<Row>[];
  key: readonly string[];
}

/** A field of the properties as text, null when it is not there. */
function property(row: EventRecord, name: string): string | null {
  // Most events have none: only a text that names it is parsed.
  if (!row.properties.includes(`"${name}"`)) return null;
  const value = (JSON.parse(row.properties) as Record<string, unknown>)[name];
  return value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
}

function shortened(text: string | null): string | null {
  return text === null ? null : cutToCodePoints(text, 200);
}

/** Columns as existing warehouses have them. */
export const eventsTable: TableShape<EventRecord> = {
  key: ['uuid'],
  columns: [
    { name: 'uuid', type: 'VARCHAR(200)', of: ({ uuid }) => uuid },
    { name: 'event', type: 'VARCHAR(200)', of: ({ event }) => event },
    { name: 'properties', type: 'JSONB', of: ({ properties }) => properties },
    { name: 'elements', type: 'JSONB', of: ({ elements_chain }) => JSON.stringify(elements_chain) },
    { name: 'set', type: 'JSONB', of: (row) => property(row, '$set') },
    { name: 'set_once', type: 'JSONB', of: (row) => property(row, '$set_once') },
    { name: 'distinct_id', type: 'VARCHAR(200)', of: ({ distinct_id }) => distinct_id },
    { name: 'team_id', type: 'INTEGER', of: (_, { environment_id }) => environment_id },
    { name: 'ip', type: 'VARCHAR(200)', of: (row) => property(row, '$ip') },
    { name: 'site_url', type: 'VARCHAR(200)', of: (row) => shortened(property(row, '$current_url')) },
    { name: 'timestamp', type: 'TIMESTAMPTZ', of: ({ timestamp }) => timestamp },
  ],
};

export const personsTable: TableShape<PersonRecord> = {
  key: ['team_id', 'distinct_id'],
  columns: [
    { name: 'team_id', type: 'INTEGER', of: (_, { environment_id }) => environment_id },
    { name: 'distinct_id', type: 'TEXT', of: ({ distinct_id }) => distinct_id },
    { name: 'person_id', type: 'TEXT', of: ({ person_id }) => person_id },
    { name: 'properties', type: 'JSONB', of: ({ properties }) => properties },
    { name: 'person_distinct_id_version', type: 'BIGINT', of: (row) => row.person_distinct_id_version },
    { name: 'person_version', type: 'BIGINT', of: ({ version }) => version },
    { name: 'created_at', type: 'TIMESTAMPTZ', of: ({ created_at }) => created_at },
  ],
};
