// The format of stored events in the topic `events.processed`, for data warehouses and other consumers.

import type { JsonObject } from './captured-record.ts';

/**
 * The JSON value of a record in the topic `events.processed`: one stored event, for data warehouses and other
 * consumers.
 *
 * Records are delivered at least once. The order of different persons' events is not defined. `uuid` is unique within
 * `project_id`, so consumers can detect duplicates. The record key is `processedEventKey`. New fields can be added
 * without a new version. A change in meaning increases the version.
 */
export interface ProcessedEvent {
  version: typeof processedEventVersion;
  uuid: string;
  project_id: number;
  event: string;
  distinct_id: string;
  /** The event time, corrected for the client's clock. All times are in ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  captured_at: string;
  properties: JsonObject;
  /** The clicked element and its parents, as a string. Empty for all events except autocapture. */
  elements_chain: string;
  /** The person at the time of ingestion. After a merge, the table `person_distinct_id` contains the current person. */
  person_id: string;
  /** When the person was created, or null for an anonymous event, whose person is not stored. */
  person_created_at: string | null;
  person_properties: JsonObject;
  person_mode: ProcessedPersonMode;
  historical_migration: boolean;
}

/** Public names for the values of `personMode` (docs/ingestion-rules.md#the-event-row). */
export type ProcessedPersonMode = 'full' | 'propertyless' | 'force_upgrade';

export const processedEventVersion = 1;

/**
 * Returns an event's record key, which keeps a person's events in one partition. After a merge, the keys of published
 * events do not change.
 */
export function processedEventKey(event: Pick<ProcessedEvent, 'project_id' | 'person_id'>): string {
  return `${event.project_id}:${event.person_id}`;
}

const time = { type: 'string', format: 'date-time' } as const;
const uuid = { type: 'string', format: 'uuid' } as const;

/**
 * JSON Schema (draft 2020-12) of a processed event, for consumers in any language. @internal Only a test, which
 * validates published events, reads the schema.
 */
export const processedEventSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'ProcessedEvent',
  type: 'object',
  required: [
    'version',
    'uuid',
    'project_id',
    'event',
    'distinct_id',
    'timestamp',
    'captured_at',
    'properties',
    'elements_chain',
    'person_id',
    'person_created_at',
    'person_properties',
    'person_mode',
    'historical_migration',
  ],
  properties: {
    version: { const: processedEventVersion },
    uuid,
    project_id: { type: 'integer' },
    event: { type: 'string' },
    distinct_id: { type: 'string' },
    timestamp: time,
    captured_at: time,
    properties: { type: 'object' },
    elements_chain: { type: 'string' },
    person_id: uuid,
    person_created_at: { anyOf: [time, { type: 'null' }] },
    person_properties: { type: 'object' },
    person_mode: { enum: ['full', 'propertyless', 'force_upgrade'] },
    historical_migration: { type: 'boolean' },
  },
} as const;
