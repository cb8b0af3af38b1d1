import { randomUUID } from 'node:crypto';
import { type CapturedEvent, topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { startMeasured } from './process/measured-process.ts';
import { type ConsumerMeasurement, consumerReport } from './report/consumer-report.ts';
import { environmentFacts } from './report/environment-facts.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';

export interface ConsumerBenchOptions {
  /** Runs of each side. */
  pairs: number;
  /** Events in the topic. */
  events: number;
}

const partitions = 8;

/**
 * The event consumer against the naive one, turn about: each drains the same full topic into a fresh database.
 * The clock runs from the first stored rows to the last, so that starting up counts for neither.
 */
export async function benchConsumer(options: ConsumerBenchOptions, print: (line: string) => void): Promise<void> {
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const projectApiKey = `phc_bench_${randomUUID().replaceAll('-', '')}`;
  const topics = await connectBenchTopics(servers.kafkaBrokers);
  const programs = await compilePrograms([
    'services/event-consumer/src/main.ts',
    'packages/bench/src/naive/naive-consumer.ts',
  ]);
  const [consumerFile = '', naiveFile = ''] = programs.files;
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    print(`filling the topic with ${options.events} mixed events`);
    const lastEvents = await topics.preload(prefix, projectApiKey, { count: options.events, partitions });
    const sides = [
      { name: 'millrace', file: consumerFile },
      { name: 'naive', file: naiveFile },
    ] as const;
    const measurements: ConsumerMeasurement[] = [];
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const { name, file } of sides) {
        const database = await createBenchDatabase(projectApiKey);
        try {
          if (measurements.length === 0) for (const line of await environmentFacts(topics, database)) print(line);
          if (name === 'naive') await database.query('CREATE TABLE event_any_month PARTITION OF event DEFAULT');
          print(`pair ${pair} of ${options.pairs}: ${name}`);
          measurements.push(
            await measureDrain({ name, file }, { prefix, count: options.events, lastEvents }, database),
          );
        } finally {
          await database.drop();
        }
      }
    }
    print('');
    print(consumerReport(measurements));
  } finally {
    await topics.stop();
    await programs.remove();
  }
}

async function measureDrain(
  { name: side, file }: { name: 'millrace' | 'naive'; file: string },
  { prefix, count: eventCount, lastEvents }: { prefix: string; count: number; lastEvents: CapturedEvent[] },
  database: BenchDatabase,
): Promise<ConsumerMeasurement> {
  const servers = testServers();
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
    await waitUntilStored(database, async () => (await countRows(database)) > 0);
    const rowsAtStart = await countRows(database);
    const startedAt = performance.now();
    const usageAtStart = await consumer.usage();
    // Counting a large table again and again would slow down what is measured.
    await waitUntilStored(database, async () => (await countStored(database, lastEvents)) === lastEvents.length);
    const endedAt = performance.now();
    const usage = await consumer.usage();
    const [found] = await database.query<{ rows: number; uuids: number }>(
      'SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS uuids FROM event',
    );
    const [persons] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM person');
    return {
      side,
      eventsPerSecond: (eventCount - rowsAtStart) / ((endedAt - startedAt) / 1000),
      cpuMicrosPerEvent: (usage.cpuMicros - usageAtStart.cpuMicros) / (eventCount - rowsAtStart),
      maxRssBytes: usage.maxRssBytes,
      secondsFromSpawn: (endedAt - spawnedAt) / 1000,
      sent: eventCount,
      rows: found?.rows ?? 0,
      uuids: found?.uuids ?? 0,
      persons: persons?.count ?? 0,
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
      throw new Error(`Nothing was stored for 60 s; ${await countRows(database)} events are there.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function countRows(database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM event');
  return row?.count ?? 0;
}

/** How many of the events are there, looked up by key. */
async function countStored(database: BenchDatabase, events: CapturedEvent[]): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM unnest($1::timestamptz[], $2::uuid[]) AS sought (timestamp, uuid)
       JOIN event USING (timestamp, uuid)
      WHERE event.project_id = $3`,
    [events.map(({ timestamp }) => timestamp), events.map(({ uuid }) => uuid), database.projectId],
  );
  return row?.count ?? 0;
}
