import type { JsonObject } from '@millrace/contracts';
import { copyChunks, copyLine, type Transaction } from '@millrace/db';
import { propertiesText } from '../intake/written-properties.ts';
import type { EventRow } from './event-row.ts';
import { PartitionMissing } from './partition-missing.ts';

/** Event rows as they go to the database. */
export interface WrittenEvents {
  count: number;
  chunks: Buffer[];
  /** Rows beyond `maxWrittenCharacters`, not written out before they are sent. */
  rest: EventRow[];
}

/** Several times a batch of ordinary events. */
const maxWrittenCharacters = 4 * 1024 * 1024;

/**
 * Writes rows out ahead of `insertEvents`, as text needs a fraction of their memory. Up to a limit: every row carries its
 * person's properties, and those of one large person may be many megabytes.
 */
export function writeEvents(rows: EventRow[]): WrittenEvents {
  let taken = 0;
  let characters = 0;
  const lines = function* () {
    for (const line of eventLines(rows)) {
      taken += 1;
      characters += line.length;
      yield line;
      if (characters > maxWrittenCharacters) return;
    }
  };
  const chunks = [...copyChunks(lines())];
  return { count: rows.length, chunks, rest: rows.slice(taken) };
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
    await tx.copy(copyStatement, chunksAndLines(chunks, rest));
  } catch (error) {
    throw isPartitionMissing(error) ? new PartitionMissing(error) : error;
  }
}

function* chunksAndLines(chunks: Buffer[], rest: EventRow[]): Generator<string | Buffer> {
  yield* chunks;
  yield* eventLines(rest);
}

const copyStatement = `
  COPY event (project_id, timestamp, uuid, event, distinct_id, person_id, person_created_at, person_properties,
              person_mode, properties, elements_chain, historical_migration, captured_at)
  FROM STDIN`;

/** PostgreSQL reports a row without a partition as a violated check that has no name. */
function isPartitionMissing(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

function* eventLines(rows: EventRow[]): Generator<string> {
  const personTexts = new Map<JsonObject, string>();
  for (const row of rows) yield eventLine(row, personTexts);
}

/** @param personTexts the JSON of persons' properties met so far: many events of a batch show the same person. */
function eventLine(row: EventRow, personTexts: Map<JsonObject, string>): string {
  let personText = personTexts.get(row.personProperties);
  if (personText === undefined) {
    personText = JSON.stringify(row.personProperties);
    personTexts.set(row.personProperties, personText);
  }
  return copyLine([
    row.projectId,
    new Date(row.timestampMs),
    row.uuid,
    row.event,
    row.distinctId,
    row.personUuid,
    row.personCreatedAtMs === null ? null : new Date(row.personCreatedAtMs),
    personText,
    row.personMode,
    propertiesText(row.properties, row.written),
    row.elementsChain,
    row.isHistorical,
    new Date(row.capturedAtMs),
  ]);
}
