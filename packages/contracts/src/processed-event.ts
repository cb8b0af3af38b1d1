import type { JsonObject } from './captured-record.ts';

/**
 * The value of a record of `events.processed`, as JSON: one stored event, for warehouses and whoever else follows along.
 *
 * Delivered at least once, in no order across persons; `uuid` is unique within `project_id`, so that readers can tell a
 * repetition. The key of the record is `processedEventKey`. Fields are added without a new version; a change of meaning
 * gets one.
 */
export interface ProcessedEvent {
  version: typeof processedEventVersion;
  /** Lower case. */
  uuid: string;
  /** The environment that owns the event. */
  project_id: number;
  event: string;
  distinct_id: string;
  /** When it happened, corrected for the client's clock. This and the other times are ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  /** When the gateway received it. */
  captured_at: string;
  properties: JsonObject;
  /** The clicked element and its parents; empty for all but autocapture. */
  elements_chain: string;
  /** The person as of ingestion; after a merge, the table `person_distinct_id` knows the current one. */
  person_id: string;
  /** Null for the made-up person of an anonymous event. */
  person_created_at: string | null;
  person_properties: JsonObject;
  person_mode: ProcessedPersonMode;
  historical_migration: boolean;
}

/** What the numbers of `personMode` are called outside (docs/ingestion-rules.md#the-event-row). */
export type ProcessedPersonMode = 'full' | 'propertyless' | 'force_upgrade';

export const processedEventVersion = 1;

/** Keeps the events of one person in one partition; merges do not change the keys of what was published before. */
export function processedEventKey(event: Pick<ProcessedEvent, 'project_id' | 'person_id'>): string {
  return `${event.project_id}:${event.person_id}`;
}

const time = { type: 'string', format: 'date-time' } as const;
const uuid = { type: 'string', format: 'uuid' } as const;

/**
 * JSON Schema (draft 2020-12) of a processed event, for readers in any language.
 * @internal No program of ours reads it: a test holds what is published against it.
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
