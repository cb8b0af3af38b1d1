import { createHash, randomUUID } from 'node:crypto';
import { type CapturedEvent, encodeCapturedRecord, type JsonObject, recordKey } from '@millrace/contracts';
import type { Database, Prisma } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createCookielessSalts } from '../../../../services/event-consumer/src/cookieless/salts.ts';
import { createDefinitions } from '../../../../services/event-consumer/src/definitions/definitions.ts';
import { createEventPartitions } from '../../../../services/event-consumer/src/events/event-partitions.ts';
import { insertEvents, writeEvents } from '../../../../services/event-consumer/src/events/event-store.ts';
import { LedgerConflict } from '../../../../services/event-consumer/src/failures/ledger-conflict.ts';
import { createFlagCalls } from '../../../../services/event-consumer/src/flag-calls/flag-calls.ts';
import { createProjectResolver } from '../../../../services/event-consumer/src/intake/resolve-projects.ts';
import { createKnownIds } from '../../../../services/event-consumer/src/ledger/known-ids.ts';
import { createTurns } from '../../../../services/event-consumer/src/ledger/turns.ts';
import type { EventRow } from '../../../../services/event-consumer/src/model/event-row.ts';
import { type ProcessBatchDeps, processBatch } from '../../../../services/event-consumer/src/process-batch.ts';
import { createWarningThrottle } from '../../../../services/event-consumer/src/warnings/throttle-warnings.ts';
import { batchSize, dealBatches, type Stream } from './store-work.ts';

export interface StoreJob {
  database: Database;
  projectId: number;
  streams: number;
}

/** COPY of finished event rows: the fastest way there is. */
export function copySide({ database, projectId, streams }: StoreJob, events: CapturedEvent[]): Stream[] {
  const rows = events.map((event) => toRow(event, projectId));
  return dealBatches(rows, streams, (batch) => database.transaction((tx) => insertEvents(tx, writeEvents(batch))));
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
    step: async (_name, work) => work(),
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
