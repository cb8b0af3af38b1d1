import { createHash, randomUUID } from 'node:crypto';
import { type CapturedEvent, encodeCapturedRecord, type JsonObject, recordKey } from '@millrace/contracts';
import type { Database, Prisma } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createCookielessSalts } from '../../../../services/event-consumer/src/cookieless/salts.ts';
import { createDefinitions } from '../../../../services/event-consumer/src/definitions/definitions.ts';
import { createFlagCalls } from '../../../../services/event-consumer/src/definitions/flag-calls.ts';
import { createEventPartitions } from '../../../../services/event-consumer/src/events/partitions.ts';
import { insertEvents } from '../../../../services/event-consumer/src/events/store.ts';
import { LedgerConflict } from '../../../../services/event-consumer/src/failures.ts';
import { createProjectResolver } from '../../../../services/event-consumer/src/intake/projects.ts';
import {
  insertMappings,
  insertPersons,
  lockVersions,
  readMappings,
  type StoredPerson,
  updatePersons,
} from '../../../../services/event-consumer/src/ledger/store.ts';
import { createKnownIds } from '../../../../services/event-consumer/src/ledger/touched.ts';
import { createTurns } from '../../../../services/event-consumer/src/ledger/turns.ts';
import type { EventRow } from '../../../../services/event-consumer/src/model/event.ts';
import { type ProcessBatchDeps, processBatch } from '../../../../services/event-consumer/src/process-batch.ts';
import { createWarningThrottle } from '../../../../services/event-consumer/src/warnings/warnings.ts';

export interface StoreJob {
  database: Database;
  projectId: number;
  streams: number;
}

/** COPY of finished event rows: the fastest way there is. */
export function copySide({ database, projectId, streams }: StoreJob, events: CapturedEvent[]): Stream[] {
  const rows = events.map((event) => toRow(event, projectId));
  return dealBatches(rows, streams, (batch) => database.transaction((tx) => insertEvents(tx, batch, { forget() {} })));
}

/** The same rows as most teams would write them first. */
export function createManySide({ database, projectId, streams }: StoreJob, events: CapturedEvent[]): Stream[] {
  const rows = events.map((event) => toPrismaRow(toRow(event, projectId)));
  return dealBatches(rows, streams, async (data) => {
    await database.prisma.event.createMany({ data });
  });
}

/** All the consumer does with the records of these events, from parsing to the commit: persons, groups, offset and all. */
export function processBatchSide({ database, streams }: StoreJob, events: CapturedEvent[]): Stream[] {
  const deps = processDeps(database);
  const topic = `bench-${randomUUID()}`;
  return Array.from({ length: streams }, (_, partition) => {
    const own = events.filter(({ distinct_id }) => partitionOf(distinct_id, streams) === partition);
    const stream: Stream = [];
    for (let start = 0; start < own.length; start += batchSize) {
      const records = own.slice(start, start + batchSize).map((event, index) => ({
        offset: BigInt(start + index),
        key: recordKey('live', event.token, event.distinct_id),
        value: encodeCapturedRecord(event),
        headers: {},
        appendedAtMs: Date.now(),
      }));
      const batch = {
        topic,
        partition,
        log: 'store bench',
        continuesFrom: start === 0 ? null : BigInt(start),
        records,
      };
      const run = async (lockFirst = false): Promise<void> => {
        try {
          const { outcome } = await processBatch({ batch, group: 'bench', deadLetterReason: null, lockFirst }, deps);
          if (outcome !== 'done') throw new Error(`a batch was ${outcome}`);
        } catch (error) {
          // Another stream was faster: done again, as consume.ts does it.
          if (lockFirst || !(error instanceof LedgerConflict)) throw error;
          await run(true);
        }
      };
      stream.push({ size: records.length, run: () => run() });
    }
    return stream;
  });
}

/** Nothing changes during a run. */
const unchanging = { subscribe: () => {}, isSubscribed: () => true };

function processDeps(database: Database): ProcessBatchDeps {
  const logger = createLogger('bench', 'warn');
  return {
    database,
    salts: createCookielessSalts(database.sql),
    projects: createProjectResolver({ sql: database.sql, changes: unchanging }),
    partitions: createEventPartitions(database),
    deadLetters: {
      append: async () => {
        throw new Error('no event of the bench is a dead letter');
      },
    },
    turns: createTurns(),
    knownIds: createKnownIds(),
    definitions: createDefinitions({ database, logger, now: Date.now }),
    flagCalls: createFlagCalls({ database, logger, now: Date.now }),
    throttle: createWarningThrottle(Date.now),
    startTimer: () => (_step, result) => result,
    now: Date.now,
  };
}

function partitionOf(distinctId: string, partitions: number): number {
  return createHash('md5').update(distinctId).digest().readUInt32BE() % partitions;
}

/** A row as the rules would decide it, with a person of usual size. */
function toRow(event: CapturedEvent, projectId: number): EventRow {
  const time = Date.parse(event.timestamp);
  return {
    projectId,
    uuid: event.uuid,
    event: event.event,
    distinctId: event.distinct_id,
    timestampMs: time,
    capturedAtMs: time,
    properties: { under: event.properties, over: {} },
    elementsChain: '',
    personUuid: event.uuid,
    personCreatedAtMs: time,
    personProperties: personProperties(event),
    personBytes: 0,
    personMode: 0,
    isHistorical: false,
  };
}

/** What the first event of a person lifts to it, about. */
function personProperties({ properties, uuid }: CapturedEvent): JsonObject {
  const { $browser, $os, $current_url } = properties;
  const now = { $browser, $os, $current_url };
  const initial = { $initial_browser: $browser, $initial_os: $os, $initial_current_url: $current_url };
  return { ...now, ...initial, $creator_event_uuid: uuid };
}

function toPrismaRow(row: EventRow): Prisma.eventCreateManyInput {
  return {
    project_id: row.projectId,
    uuid: row.uuid,
    event: row.event,
    distinct_id: row.distinctId,
    timestamp: new Date(row.timestampMs),
    captured_at: new Date(row.capturedAtMs),
    properties: row.properties.under as Prisma.InputJsonObject,
    person_id: row.personUuid,
    person_created_at: row.personCreatedAtMs === null ? null : new Date(row.personCreatedAtMs),
    person_properties: row.personProperties as Prisma.InputJsonObject,
    person_mode: row.personMode,
    elements_chain: row.elementsChain,
    historical_migration: row.isHistorical,
  };
}

/**
 * Person upserts in the statements of the consumer: every batch looks up all its ids, updates the half that is stored
 * under the version it read, and inserts the new half with its ids.
 */
export async function personSide({ database, projectId, streams }: StoreJob, count: number): Promise<Stream[]> {
  const persons = Array.from({ length: count }, (_, index) => newPerson(projectId, index));
  const isStored = (_: StoredPerson, index: number) => index % 2 === 0;
  const store = (batch: StoredPerson[]) => database.transaction((tx) => insertAll(tx, batch));
  await runStreams(dealBatches(persons.filter(isStored), 1, store));
  await database.sql.query('ANALYZE person, person_distinct_id');

  return dealBatches(persons, streams, (batch) =>
    database.transaction(async (tx) => {
      const ids = batch.map(({ mainDistinctId: distinctId }) => ({ projectId, distinctId }));
      const { persons: found } = await readMappings(tx, ids);
      const known = new Set(found.map(({ uuid }) => uuid));
      await lockVersions(tx, found);
      await updatePersons(
        tx,
        found.map((person) => ({
          ...person,
          properties: { ...person.properties, plan: 'pro', seats: 12 },
          version: person.version + 1,
        })),
      );
      await insertAll(
        tx,
        batch.filter(({ uuid }) => !known.has(uuid)),
      );
    }),
  );
}

async function insertAll(tx: Parameters<typeof insertPersons>[0], persons: StoredPerson[]): Promise<void> {
  await insertPersons(tx, persons);
  await insertMappings(
    tx,
    persons.map(({ projectId, uuid, mainDistinctId }) => ({
      projectId,
      distinctId: mainDistinctId,
      personUuid: uuid,
      version: 0,
    })),
  );
}

function newPerson(projectId: number, index: number): StoredPerson {
  return {
    projectId,
    uuid: randomUUID(),
    mainDistinctId: `person-${index}`,
    properties: { plan: 'free', name: `Person ${index}`, $initial_os: 'Linux', $initial_browser: 'Firefox' },
    isIdentified: false,
    version: 0,
    createdAtMs: Date.now(),
  };
}

/** Ways of storing that are measured: `stream` is one of those that run at once, each a list of batches in order. */
export type Stream = Batch[];

interface Batch {
  /** Rows or persons it stores. */
  size: number;
  run(): Promise<void>;
}

const batchSize = 500;

/** Cuts a list into batches and deals them out to the streams in turn. */
export function dealBatches<T>(items: readonly T[], streams: number, run: (batch: T[]) => Promise<void>): Stream[] {
  const dealt: Stream[] = Array.from({ length: streams }, () => []);
  for (let start = 0, number = 0; start < items.length; start += batchSize, number++) {
    const batch = items.slice(start, start + batchSize);
    dealt[number % streams]?.push({ size: batch.length, run: () => run(batch) });
  }
  return dealt;
}

/** Runs all streams side by side, each batch after batch. @returns what they stored. */
export async function runStreams(streams: readonly Stream[]): Promise<number> {
  let stored = 0;
  await Promise.all(
    streams.map(async (stream) => {
      for (const { size, run } of stream) {
        await run();
        stored += size;
      }
    }),
  );
  return stored;
}
