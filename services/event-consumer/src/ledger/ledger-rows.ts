import type { JsonObject } from '@millrace/contracts';

export interface DistinctIdKey {
  projectId: number;
  distinctId: string;
}

export interface StoredPerson {
  projectId: number;
  uuid: string;
  mainDistinctId: string;
  properties: JsonObject;
  isIdentified: boolean;
  version: number;
  createdAtMs: number;
}

export interface StoredMapping {
  projectId: number;
  distinctId: string;
  personUuid: string;
  version: number;
}

export interface PersonKey {
  projectId: number;
  uuid: string;
}

/** A person at the version that was read. */
export interface PersonVersion extends PersonKey {
  version: number;
}

/** A person merged away: its ids go to `survivorUuid`, their versions rise by `moves`. */
export interface MergedPerson {
  projectId: number;
  uuid: string;
  survivorUuid: string;
  moves: number;
}

export interface MappedPersonRow extends PersonColumns {
  distinct_id: string;
  mapping_version: string;
  /** Of the properties of the persons up to this row. */
  running_bytes: number;
  /** Null in all rows of a person but the first, and beyond the limit. */
  properties: JsonObject | null;
}

export interface PersonRow extends PersonColumns {
  properties: JsonObject;
}

interface PersonColumns {
  [column: string]: unknown;
  project_id: number;
  uuid: string;
  main_distinct_id: string;
  is_identified: boolean;
  version: string;
  created_at_ms: number;
}

export function toStoredPerson(row: PersonRow): StoredPerson {
  return {
    projectId: row.project_id,
    uuid: row.uuid,
    mainDistinctId: row.main_distinct_id,
    properties: row.properties,
    isIdentified: row.is_identified,
    version: Number(row.version),
    createdAtMs: Math.round(row.created_at_ms),
  };
}

export const personColumns = `project_id int, uuid uuid, main_distinct_id text, properties jsonb, is_identified boolean,
  version bigint, created_at_ms bigint`;

/** One JSON document: PostgreSQL parses it faster than an array of texts that are each parsed as JSON. */
export function personDocument(persons: StoredPerson[]): string {
  return JSON.stringify(
    persons.map((person) => ({
      project_id: person.projectId,
      uuid: person.uuid,
      main_distinct_id: person.mainDistinctId,
      properties: person.properties,
      is_identified: person.isIdentified,
      version: person.version,
      created_at_ms: person.createdAtMs,
    })),
  );
}

export function idColumns(ids: DistinctIdKey[]): [number[], string[]] {
  return [ids.map(({ projectId }) => projectId), ids.map(({ distinctId }) => distinctId)];
}
