import type { Transaction } from '@millrace/db';
import type { EventRow } from './event-row.ts';
import { PartitionMissing } from './partition-missing.ts';

/**
 * Stores event rows in one statement; their months must have a partition (event-partitions.ts) and their identities be
 * claimed by this transaction.
 *
 * @throws PartitionMissing when a month has no partition any more.
 */
export async function insertEvents(tx: Transaction, rows: EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    await tx.query(insertStatement, [eventDocument(rows)]);
  } catch (error) {
    throw isPartitionMissing(error) ? new PartitionMissing(error) : error;
  }
}

const insertStatement = `
  INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_created_at, person_properties,
                     person_mode, properties, elements_chain, historical_migration, captured_at)
  SELECT project_id, to_timestamp(timestamp_ms / 1000.0), uuid, event, distinct_id, person_id,
         to_timestamp(person_created_at_ms / 1000.0), person_properties, person_mode, properties, elements_chain,
         historical_migration, to_timestamp(captured_at_ms / 1000.0)
    FROM jsonb_to_recordset($1::jsonb)
      AS e (project_id int, timestamp_ms bigint, uuid uuid, event text, distinct_id text, person_id uuid,
            person_created_at_ms bigint, person_properties jsonb, person_mode smallint, properties jsonb,
            elements_chain text, historical_migration boolean, captured_at_ms bigint)`;

/** PostgreSQL reports a row without a partition as a violated check that has no name. */
function isPartitionMissing(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

/** One JSON document for the whole batch (see the measurement in the file's test). */
function eventDocument(rows: EventRow[]): string {
  return JSON.stringify(
    rows.map((row) => ({
      project_id: row.projectId,
      timestamp_ms: row.timestampMs,
      uuid: row.uuid,
      event: row.event,
      distinct_id: row.distinctId,
      person_id: row.personUuid,
      person_created_at_ms: row.personCreatedAtMs,
      person_properties: row.personProperties,
      person_mode: row.personMode,
      properties: row.properties,
      elements_chain: row.elementsChain,
      historical_migration: row.isHistorical,
      captured_at_ms: row.capturedAtMs,
    })),
  );
}
