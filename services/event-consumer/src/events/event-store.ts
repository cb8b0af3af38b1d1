import type { JsonObject } from '@millrace/contracts';
import { type CopyRow, copyRows, releaseChunks, type Transaction, takeChunks } from '@millrace/db/sql';
import { PartitionMissing } from '../failures/partition-missing.ts';
import type { EventRow } from '../model/event-row.ts';
import { writeProperties } from '../values/written-properties.ts';

/** Event rows as they go to the database, once. */
export interface WrittenEvents {
  count: number;
  chunks: Buffer[];
  /** Rows beyond `maxWrittenBytes` are written out only while they are sent. */
  rest: Iterable<Buffer>;
}

/** About the largest a batch gets: its records, and what its rows show of persons (decide-events.ts). */
const maxWrittenBytes = 16 * 1024 * 1024;

/** Writes rows out ahead of `insertEvents`, as bytes need a fraction of their memory. */
export function writeEvents(rows: EventRow[]): WrittenEvents {
  const personTexts = new Map<JsonObject, string>();
  const rest = copyRows(columns.length, rows, (fields, row) => writeEvent(fields, row, personTexts));
  const { taken: chunks, isAll } = takeChunks(rest, maxWrittenBytes);
  return { count: rows.length, chunks, rest: isAll ? [] : rest };
}

/**
 * Stores event rows; their months must have a partition (event-partitions.ts) and their identities be inserted by this
 * transaction.
 *
 * @throws PartitionMissing when a month has no partition any more.
 */
export async function insertEvents(tx: Transaction, { count, chunks, rest }: WrittenEvents): Promise<void> {
  if (count === 0) return;
  try {
    await tx.copy(copyStatement, oneAfterTheOther(chunks, rest));
    releaseChunks(chunks);
  } catch (error) {
    throw isPartitionMissing(error) ? new PartitionMissing(error) : error;
  }
}

function* oneAfterTheOther(...lists: Iterable<Buffer>[]): Generator<Buffer> {
  for (const chunks of lists) yield* chunks;
}

/** In the order in which `writeEvent` writes them. */
const columns = [
  'project_id',
  'timestamp',
  'uuid',
  'event',
  'distinct_id',
  'person_id',
  'person_created_at',
  'person_properties',
  'person_mode',
  'properties',
  'elements_chain',
  'historical_migration',
  'captured_at',
];
const copyStatement = `COPY event (${columns.join(', ')}) FROM STDIN (FORMAT binary)`;

/** PostgreSQL reports a row without a partition as a violated check that has no name. */
function isPartitionMissing(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

/** @param personTexts the JSON of persons' properties met so far: many events of a batch show the same person. */
function writeEvent(fields: CopyRow, row: EventRow, personTexts: Map<JsonObject, string>): void {
  let personText = personTexts.get(row.personProperties);
  if (personText === undefined) {
    personText = JSON.stringify(row.personProperties);
    personTexts.set(row.personProperties, personText);
  }
  fields.integer(row.projectId);
  fields.time(row.timestampMs);
  fields.uuid(row.uuid);
  fields.text(row.event);
  fields.text(row.distinctId);
  fields.uuid(row.personUuid);
  if (row.personCreatedAtMs === null) fields.null();
  else fields.time(row.personCreatedAtMs);
  fields.jsonb(personText);
  fields.smallint(row.personMode);
  writeProperties(fields, row.properties, row.written);
  fields.text(row.elementsChain);
  fields.boolean(row.isHistorical);
  fields.time(row.capturedAtMs);
}
