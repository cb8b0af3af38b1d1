import { randomUUID } from 'node:crypto';
import { type CapturedEvent, type CapturedRecord, computeRecordKey, encodeCapturedRecord } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { watchProjectChanges } from '@millrace/db/sql';
import type { AppendRecord, LogBatch, LogRecord } from '@millrace/event-log';
import { createLogger, createMetrics, type Logger } from '@millrace/runtime';
import { createTestDatabase, eventually, patienceMs } from '@millrace/testing';
import { createCookielessSalts } from '../cookieless/salts.ts';
import { createDeadLetterLog } from '../dead-letters.ts';
import { createEventPartitions } from '../events/partitions.ts';
import { createProjectResolver } from '../intake/projects.ts';
import { createKnownIds } from '../ledger/touched.ts';
import { createTurns } from '../ledger/turns.ts';
import type { RecordStep } from '../metrics.ts';
import { type ProcessBatchDeps, processBatch } from '../process-batch.ts';
import { createWarningThrottle } from '../warnings/warnings.ts';

/** A migrated database for a test file, and the dependencies of processBatch. */
export interface ConsumerFixture {
  url: string;
  database: Database;
  logger: Logger;
  deadLetters: AppendRecord[];
  createDeps(overrides?: Partial<ProcessBatchDeps>): ProcessBatchDeps;
  createProject(): Promise<TestProject>;
  stop(): Promise<void>;
}

export interface TestProject {
  id: number;
  token: string;
}

export async function createConsumerFixture(): Promise<ConsumerFixture> {
  const { url, drop } = await createTestDatabase();
  const logger = createLogger('event-consumer-test', 'error');
  logger.silent = true;
  const database = createDatabase({ url, logger, poolSize: 8, connectTimeoutMs: patienceMs, preparesLookups: true });
  const metrics = createMetrics({ withProcessMetrics: false });
  const changes = watchProjectChanges({ database, logger, metrics });
  await eventually(() => changes.isSubscribed(), { what: 'hearing of changes' });
  const deadLetters: AppendRecord[] = [];
  return {
    url,
    database,
    logger,
    deadLetters,
    createDeps: (overrides) => ({
      database,
      salts: createCookielessSalts(database.sql),
      projects: createProjectResolver({ sql: database.sql, changes }),
      partitions: createEventPartitions(database),
      deadLetters: createDeadLetterLog({
        log: { append: async (records) => void deadLetters.push(...records) },
        topic: 'dead-letter',
        logger,
        now: Date.now,
      }),
      turns: createTurns(),
      knownIds: createKnownIds(),
      definitions: { note: () => {} },
      flagCalls: { note: () => {} },
      throttle: createWarningThrottle(Date.now),
      startStepTimer: recordNoSteps,
      now: Date.now,
      ...overrides,
    }),
    createProject: () => createProject(database),
    async stop() {
      await changes.stop();
      await database.stop();
      await drop();
    },
  };
}

const recordNoSteps = (): RecordStep => (_step, result) => result;

async function createProject(database: Database): Promise<TestProject> {
  const token = `phc_${randomUUID().replaceAll('-', '')}`;
  const organizationId = randomUUID();
  await database.sql.query('INSERT INTO organization (id, name) VALUES ($1, $2)', [organizationId, 'Test']);
  const [project] = await database.sql.query<{ id: number }>(
    'INSERT INTO project (organization_id) VALUES ($1) RETURNING id',
    [organizationId],
  );
  if (project === undefined) throw new Error('no project was inserted');
  await database.sql.query('INSERT INTO environment (id, uuid, project_id, api_token) VALUES ($1, $2, $1, $3)', [
    project.id,
    randomUUID(),
    token,
  ]);
  return { id: project.id, token };
}

export function capturedEvent(token: string, { properties = {}, ...event }: Partial<CapturedEvent>): CapturedEvent {
  const now = new Date().toISOString();
  return {
    kind: 'event',
    uuid: randomUUID(),
    token,
    distinct_id: 'someone',
    event: 'thing happened',
    timestamp: now,
    now,
    ip: null,
    ...event,
    // The properties come last, as in the format that the gateway writes.
    properties,
  };
}

function logRecord(offset: number | bigint, content: CapturedRecord): LogRecord {
  return {
    offset: BigInt(offset),
    key: content.kind === 'event' ? computeRecordKey('live', content.token, content.distinct_id) : content.token,
    value: encodeCapturedRecord(content),
    headers: {},
    appendedAtMs: Date.now(),
  };
}

export const testLog = 'test';

export function logBatch(topic: string, from: number, contents: (CapturedRecord | Buffer)[], partition = 0): LogBatch {
  return {
    topic,
    partition,
    log: testLog,
    continuesFrom: from === 0 ? null : BigInt(from),
    records: contents.map((content, index) =>
      Buffer.isBuffer(content)
        ? { offset: BigInt(from + index), key: null, value: content, headers: {}, appendedAtMs: Date.now() }
        : logRecord(from + index, content),
    ),
  };
}

/** A topic with one partition, whose batches are processed one after the other. */
export interface TestTopic {
  name: string;
  nextBatch(...events: Partial<CapturedEvent>[]): LogBatch;
  consume(...events: Partial<CapturedEvent>[]): ReturnType<typeof processBatch>;
}

export function createTestTopic(deps: ProcessBatchDeps, { token }: TestProject): TestTopic {
  const name = randomUUID();
  let offset = 0;
  const nextBatch: TestTopic['nextBatch'] = (...events) => {
    const batch = logBatch(
      name,
      offset,
      events.map((one) => capturedEvent(token, one)),
    );
    offset += events.length;
    return batch;
  };
  return {
    name,
    nextBatch,
    consume: (...events) =>
      processBatch({ batch: nextBatch(...events), group: 'g', deadLetterReason: null, lockFirst: false }, deps),
  };
}
