// SQL for events. Event identities provide idempotency: an event that is sent again has no effect.

import type { JsonObject } from '@millrace/contracts';
import { type CopyRow, copyRows, releaseChunks, type Sql, type Transaction, takeChunks } from '@millrace/db/sql';
import { insertOrThrowConflict, PartitionMissing } from '../failures.ts';
import type { EventRow, IncomingEvent, ReusedUuid, UuidOwner } from '../model/event.ts';
import { writeProperties } from '../values/properties.ts';

/** The approximate maximum size in bytes of a batch: its records, and the person properties in its rows (decide.ts). */
const maxWrittenBytes = 16 * 1024 * 1024;

/**
 * Stores event rows, whose identities the same transaction inserts.
 * @throws PartitionMissing if a month's partition no longer exists. `partitions` then removes the month from its cache,
 * and creates the partition when the batch is retried.
 */
export async function insertEvents(
  tx: Transaction,
  rows: readonly EventRow[],
  partitions: { forget(): void },
): Promise<void> {
  if (rows.length === 0) return;
  const personTexts = new Map<JsonObject, string>();
  const written = copyRows(columns.length, rows, (fields, row) => writeEvent(fields, row, personTexts));
  // If the rows are larger than `maxWrittenBytes`, PostgreSQL receives the first rows while the remaining rows are
  // still being encoded.
  const { taken, isAll } = takeChunks(written, maxWrittenBytes);
  try {
    await tx.copy(copyStatement, isAll ? taken : oneAfterTheOther(taken, written));
    releaseChunks(taken);
  } catch (error) {
    if (!isPartitionMissing(error)) throw error;
    partitions.forget();
    throw new PartitionMissing(error);
  }
}

function* oneAfterTheOther(...lists: Iterable<Buffer>[]): Generator<Buffer> {
  for (const chunks of lists) yield* chunks;
}

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

/** Returns whether a row had no partition. PostgreSQL reports this as a check violation without a constraint name. */
function isPartitionMissing(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

/**
 * Writes the columns of one event.
 * @param personTexts a cache of encoded person properties, because many events of a batch have the same person
 */
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

/**
 * Returns the events that must be decided, in order. All others have no effect: they were decided before (possibly with
 * a different timestamp), or repeat a preceding event of the batch. An event that the rules drop counts as decided, and
 * its identity is stored. A dead letter's identity is rolled back with its transaction, so it can be replayed.
 */
export async function findFreshEvents(tx: Sql, received: IncomingEvent[]): Promise<FreshEvents> {
  const firsts = new Map<string, IncomingEvent>();
  for (const one of received) {
    const key = eventIdentityKey(one.project.id, one.uuid);
    if (!firsts.has(key)) firsts.set(key, one);
  }
  const events = [...firsts.values()];
  const decided = await readIdentities(tx, toEventIdentities(events));
  if (decided.size === 0 && events.length === received.length) return { fresh: events, reused: [] };
  const [fresh, before] = [new Map<string, IncomingEvent>(), new Map<string, IncomingEvent>()];
  for (const [key, one] of firsts) (decided.has(key) ? before : fresh).set(key, one);
  const owners = new Map<string, UuidOwner>([...fresh, ...(await readUuidOwners(tx, [...before.values()]))]);
  const reused = received.flatMap((event) => {
    const owner = owners.get(eventIdentityKey(event.project.id, event.uuid));
    return owner !== undefined && isOtherEvent(event, owner) ? [{ event, owner }] : [];
  });
  return { fresh: [...fresh.values()], reused };
}

interface FreshEvents {
  fresh: IncomingEvent[];
  reused: ReusedUuid[];
}

/**
 * Returns whether an event is different from the stored event with the same UUID. An event that is sent again has the
 * same name and distinct ID, whatever else has changed.
 */
function isOtherEvent(event: IncomingEvent, owner: UuidOwner): boolean {
  if (event.event !== owner.event) return true;
  // The distinct ID of a cookieless visitor can change, because it depends on the request's IP address.
  return event.distinctId !== owner.distinctId && event.properties.$cookieless_mode !== true;
}

/** Reads the stored events that have these UUIDs. An event that the rules dropped has no row. */
async function readUuidOwners(tx: Sql, events: readonly IncomingEvent[]): Promise<Map<string, UuidOwner>> {
  if (events.length === 0) return new Map();
  const rows = await tx.query<{ project_id: number; uuid: string; event: string; distinct_id: string }>(
    `SELECT e.project_id, e.uuid, e.event, e.distinct_id
       FROM unnest($1::int[], $2::uuid[]) AS sought (project_id, uuid)
      CROSS JOIN LATERAL (SELECT i.timestamp FROM event_identity i
                           WHERE i.project_id = sought.project_id AND i.uuid = sought.uuid LIMIT 1) AS i
      CROSS JOIN LATERAL (SELECT e.project_id, e.uuid, e.event, e.distinct_id FROM event e
                           WHERE e.project_id = sought.project_id AND e.timestamp = i.timestamp
                             AND e.uuid = sought.uuid LIMIT 1) AS e`,
    [events.map(({ project }) => project.id), events.map(({ uuid }) => uuid)],
  );
  return new Map(
    rows.map((row) => [eventIdentityKey(row.project_id, row.uuid), { event: row.event, distinctId: row.distinct_id }]),
  );
}

/** Returns the identities to store, so that each event is decided only once. */
export function toEventIdentities(events: readonly IncomingEvent[]): EventIdentity[] {
  return events.map(({ project, uuid, timestampMs }) => ({
    projectId: project.id,
    uuid,
    timestampMs,
  }));
}

/** Identifies an event that is sent again, even if its timestamp has changed. */
interface EventIdentity {
  projectId: number;
  uuid: string;
  timestampMs: number;
}

/** Returns the keys (`eventIdentityKey`) of the identities that are already stored. Takes no locks. */
export async function readIdentities(tx: Sql, identities: EventIdentity[]): Promise<Set<string>> {
  if (identities.length === 0) return new Set();
  const rows = await tx.query<{ project_id: number; uuid: string }>(
    // LATERAL with LIMIT uses one index lookup per event. For a plain join, the planner might scan the whole table.
    `SELECT stored.project_id, stored.uuid
       FROM unnest($1::int[], $2::uuid[]) AS sought (project_id, uuid)
      CROSS JOIN LATERAL (SELECT i.project_id, i.uuid FROM event_identity i
                           WHERE i.project_id = sought.project_id AND i.uuid = sought.uuid LIMIT 1) AS stored`,
    [identities.map(({ projectId }) => projectId), identities.map(({ uuid }) => uuid)],
  );
  return new Set(rows.map((row) => eventIdentityKey(row.project_id, row.uuid)));
}

/**
 * Inserts identities in the order of (project, uuid), which is part of the lock order in ledger/store.ts. Waits for any
 * concurrent batch that is storing one of them.
 * @throws LedgerConflict if one of them is already stored
 */
export async function insertIdentities(tx: Transaction, identities: EventIdentity[]): Promise<void> {
  if (identities.length === 0) return;
  const inOrder = identities.toSorted((a, b) => a.projectId - b.projectId || (a.uuid < b.uuid ? -1 : 1));
  await insertOrThrowConflict('an event', tx.copy(copyIdentities, copyRows(3, inOrder, writeIdentity)));
}

const copyIdentities = 'COPY event_identity (project_id, uuid, timestamp) FROM STDIN (FORMAT binary)';

function writeIdentity(row: CopyRow, { projectId, uuid, timestampMs }: EventIdentity): void {
  row.integer(projectId);
  row.uuid(uuid);
  row.time(timestampMs);
}

function eventIdentityKey(projectId: number, uuid: string): string {
  return `${projectId}:${uuid}`;
}

export interface Month {
  /** The name of the month's partition, for example `event_2026_11`. */
  table: string;
  fromMs: number;
  toMs: number;
}

/**
 * The first month with a separate partition. Older events are in the partition `event_before_2015`, which the migration
 * creates.
 */
const firstMonthMs = Date.UTC(2015, 0, 1);

/** Returns the month that contains a time, or null if the time is before the first month. */
export function findMonth(timestampMs: number): Month | null {
  if (timestampMs < firstMonthMs) return null;
  const time = new Date(timestampMs);
  const year = time.getUTCFullYear();
  const month = time.getUTCMonth();
  return {
    table: `event_${year}_${String(month + 1).padStart(2, '0')}`,
    fromMs: Date.UTC(year, month, 1),
    toMs: Date.UTC(year, month + 1, 1),
  };
}

/**
 * Creates the month's partition if it is missing. First creates a separate table and then attaches it. Unlike `CREATE
 * TABLE ... PARTITION OF`, this never blocks readers and writers of the parent table. An advisory lock makes processes
 * that need the same month wait for each other.
 * @returns whether the partition was missing. If so, call `announcePartitions` in a separate transaction.
 */
export async function createMonthPartition(tx: Transaction, month: Month): Promise<boolean> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [partitionLock]);
  const [attached] = await tx.query(
    `SELECT 1 FROM pg_inherits WHERE inhparent = 'event'::regclass AND inhrelid = to_regclass($1)`,
    [month.table],
  );
  if (attached !== undefined) return false;
  // Names and limits come only from `findMonth`, so they contain only digits, dashes and a fixed prefix. Tables that
  // only grow are vacuumed early, so that queries can use index-only scans.
  await tx.query(
    `CREATE TABLE IF NOT EXISTS "${month.table}" (LIKE event INCLUDING ALL) WITH (autovacuum_vacuum_insert_scale_factor = 0.02)`,
  );
  await tx.query(
    `ALTER TABLE event ATTACH PARTITION "${month.table}"
       FOR VALUES FROM ('${isoTime(month.fromMs)}') TO ('${isoTime(month.toMs)}')`,
  );
  return true;
}

/**
 * Makes every session reload the list of partitions. If a session loads the list while a partition is being attached,
 * it processes the notification too early and keeps the old list (PostgreSQL 18.4). Until the table changes again, the
 * session would not see rows of the new month, and would reject new ones. This function's statement counts as such a
 * change, and has no other effect.
 */
export async function announcePartitions(tx: Transaction): Promise<void> {
  await tx.query('ALTER TABLE ONLY event ALTER COLUMN uuid SET STATISTICS -1');
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** An arbitrary advisory lock ID that Millrace does not otherwise use. */
const partitionLock = 620_150_101;

/** Marks environments as having events. Locks the environments in ID order, as ledger/store.ts requires. */
export async function markEventsIngested(tx: Transaction, projectIds: number[]): Promise<void> {
  if (projectIds.length === 0) return;
  await tx.query(
    `UPDATE environment SET ingested_event = true
       FROM (SELECT id FROM environment
              WHERE id = ANY ($1::int[]) AND NOT ingested_event
              ORDER BY id
                FOR NO KEY UPDATE) AS first
      WHERE environment.id = first.id`,
    [projectIds],
  );
}
