import type { Transaction } from '@millrace/db';
import type { EventRow } from './event-row.ts';
import { PartitionMissing } from './partition-missing.ts';

/**
 * Stores event rows, in one statement unless they are unusually large; their months must have a partition (event-partitions.ts) and their identities be
 * claimed by this transaction.
 *
 * @throws PartitionMissing when a month has no partition any more.
 */
export async function insertEvents(tx: Transaction, rows: EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    for (const document of eventDocuments(rows)) await tx.query(insertStatement, [document]);
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

/** Every row carries its person's properties: a batch of one large person's events would be hundreds of megabytes. */
const maxDocumentCharacters = 8 * 1024 * 1024;

/** JSON arrays of rows, each as long as allowed (one row may be longer); made one by one, so one is in memory. */
function* eventDocuments(rows: EventRow[]): Generator<string> {
  let texts: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const text = JSON.stringify(eventColumns(row));
    if (characters > 0 && characters + text.length > maxDocumentCharacters) {
      yield `[${texts.join(',')}]`;
      texts = [];
      characters = 0;
    }
    texts.push(text);
    characters += text.length;
  }
  yield `[${texts.join(',')}]`;
}

function eventColumns(row: EventRow) {
  return {
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
  };
}
