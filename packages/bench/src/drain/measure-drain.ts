import { randomUUID } from 'node:crypto';
import { type CapturedEvent, consumerGroup, topicNames } from '@millrace/contracts';
import { testServers } from '@millrace/testing';
import { backendCpuBetween, readBackendCpu } from '../process/backend-cpu.ts';
import { startMeasured } from '../process/measured-process.ts';
import { costliestStatements, forgetStatements } from '../process/statements.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';

export interface DrainMeasurement {
  eventsPerSecond: number;
  cpuMicrosPerEvent: number;
  /** CPU of PostgreSQL's processes for it; NaN where it cannot be seen. */
  databaseMicrosPerEvent: number;
  maxRssBytes: number;
  /** Start of the process to last row, for the record. */
  secondsFromSpawn: number;
  sent: number;
  rows: number;
  /** Different uuids among the rows. */
  uuids: number;
  persons: number;
  /** The dearest statements, a line each; empty unless asked for. */
  statements: string[];
}

/** A topic filled beforehand. */
export interface FilledTopic {
  prefix: string;
  partitions: number;
  count: number;
  /** The last event of each partition: a consumer that has stored those has stored all. */
  lastEvents: CapturedEvent[];
}

export interface DrainOptions {
  /** Events that are consumed before the clock begins. */
  warmUp?: number;
  withStatements?: boolean;
}

/**
 * Lets a compiled consumer drain a full topic into a database. The clock runs from the first stored rows to the last, so
 * that starting up counts for nobody; with `warmUp` it begins once so many events are consumed. Rows stored beforehand are left out of all figures.
 */
export async function measureDrain(
  file: string,
  { prefix, partitions, count: eventCount, lastEvents }: FilledTopic,
  database: BenchDatabase,
  { warmUp = 0, withStatements = false }: DrainOptions = {},
): Promise<DrainMeasurement> {
  const servers = testServers();
  const before = await readStart(database);
  const spawnedAt = performance.now();
  const consumer = await startMeasured(file, {
    DATABASE_URL: database.url,
    KAFKA_BROKERS: servers.kafkaBrokers.join(','),
    REDIS_URL: servers.redisUrl,
    EVENT_LOG: 'kafka',
    TOPIC_PREFIX: prefix,
    TOPIC_PARTITIONS: String(partitions),
    HEALTH_PORT: '0',
    LOG_LEVEL: 'warn',
    NAIVE_PROJECT_ID: String(database.projectId),
    NAIVE_GROUP: `${prefix}naive-${randomUUID()}`,
  });
  try {
    const countDone = () => (warmUp > 0 ? countConsumed(database, prefix) : countRows(database, before.at));
    await waitUntilStored(database, async () => (await countDone()) > warmUp);
    if (withStatements) await forgetStatements(database);
    const startedAt = performance.now();
    const rowsAtStart = await countDone();
    const usageAtStart = await consumer.usage();
    const backendsAtStart = await readBackendCpu(database);
    // Counting a large table again and again would slow down what is measured.
    await waitUntilStored(database, async () => (await countStored(database, lastEvents)) === lastEvents.length);
    const endedAt = performance.now();
    const usage = await consumer.usage();
    const backends = await readBackendCpu(database);
    const measured = eventCount - rowsAtStart;
    const statements = withStatements ? await costliestStatements(database, measured) : [];
    const end = await countAll(database, before.at);
    return {
      eventsPerSecond: measured / ((endedAt - startedAt) / 1000),
      cpuMicrosPerEvent: (usage.cpuMicros - usageAtStart.cpuMicros) / measured,
      databaseMicrosPerEvent: backendCpuBetween(backendsAtStart, backends) / measured,
      maxRssBytes: usage.maxRssBytes,
      secondsFromSpawn: (endedAt - spawnedAt) / 1000,
      sent: eventCount,
      rows: end.rows,
      uuids: end.uuids,
      persons: end.persons - before.persons,
      statements,
    };
  } finally {
    await consumer.stop();
  }
}

/** Asks ten times a second. @throws when nothing at all was stored for a minute. */
async function waitUntilStored(database: BenchDatabase, isStored: () => Promise<boolean>): Promise<void> {
  let lastSize = 0;
  let lastGrowthAt = performance.now();
  while (!(await isStored())) {
    const [sizes] = await database.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size');
    const size = Number(sizes?.size);
    if (size !== lastSize) lastGrowthAt = performance.now();
    lastSize = size;
    if (performance.now() - lastGrowthAt > 60_000) {
      throw new Error('Nothing was stored for 60 s.');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function readStart(database: BenchDatabase): Promise<{ at: string; persons: number }> {
  const [row] = await database.query<{ at: string; persons: number }>(
    'SELECT clock_timestamp()::text AS at, (SELECT count(*)::int FROM person) AS persons',
  );
  if (row === undefined) throw new Error('PostgreSQL did not return the time');
  return row;
}

/** Rows stored since a moment of the database's clock; with the index on it cheap, whatever was stored before. */
async function countRows(database: BenchDatabase, since: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM event WHERE created_at >= $1::timestamptz',
    [since],
  );
  return row?.count ?? 0;
}

/** How many records of the live topic the consumer is through with. One that stores its offsets elsewhere has none. */
async function countConsumed(database: BenchDatabase, prefix: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'SELECT coalesce(sum(next_offset), 0)::int AS count FROM consumer_position WHERE topic = $1 AND "group" = $2',
    [topicNames(prefix).live, consumerGroup('live', prefix)],
  );
  return row?.count ?? 0;
}

/** The same with what is slow to count. */
async function countAll(database: BenchDatabase, since: string) {
  const [row] = await database.query<{ rows: number; uuids: number; persons: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT (project_id, uuid))::int AS uuids,
            (SELECT count(*)::int FROM person) AS persons
       FROM event
      WHERE created_at >= $1::timestamptz`,
    [since],
  );
  return row ?? { rows: 0, uuids: 0, persons: 0 };
}

/** How many of the events are there, looked up by key. */
async function countStored(database: BenchDatabase, events: CapturedEvent[]): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM unnest($1::timestamptz[], $2::uuid[], $3::text[]) AS sought (timestamp, uuid, token)
       JOIN environment ON environment.api_token = sought.token
      CROSS JOIN LATERAL (SELECT 1 FROM event
                           WHERE event.project_id = environment.id AND event.timestamp = sought.timestamp
                             AND event.uuid = sought.uuid LIMIT 1) AS stored`,
    [events.map(({ timestamp }) => timestamp), events.map(({ uuid }) => uuid), events.map(({ token }) => token)],
  );
  return row?.count ?? 0;
}
