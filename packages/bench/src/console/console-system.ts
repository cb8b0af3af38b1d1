import { randomUUID } from 'node:crypto';
import { writeConsole } from '@millrace/console/bundle';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type MeasuredProcess, startMeasured, waitUntilReady } from '../process/measured-process.ts';
import { addProjects, type BenchDatabase, createBenchDatabase } from '../topic/bench-project.ts';
import { connectBenchTopics } from '../topic/bench-topics.ts';
import { fillerProperties, requestText } from '../workload/gateway-workloads.ts';

export interface BenchProject {
  id: number;
  apiKey: string;
}

/** Gateway, consumer and API with the built console, on Kafka, with live events; and who loads them, each a process. */
export interface ConsoleSystem {
  database: BenchDatabase;
  gateway: MeasuredProcess;
  api: MeasuredProcess;
  /** Sends events, puts stored ones on their topic, asks the API, and watches streams. */
  events: MeasuredProcess;
  publisher: MeasuredProcess;
  questions: MeasuredProcess;
  watchers: MeasuredProcess;
  brokers: string[];
  processedTopic: string;
  sizes: Awaited<ReturnType<typeof writeConsole>>['sizes'];
  /** The first has the console's pages open, the last is the quiet one. */
  projects: BenchProject[];
  stop(): Promise<void>;
}

const partitions = 8;

/** @param directory for the built console @param projectCount at least 2 */
export async function startConsoleSystem(directory: string, projectCount: number): Promise<ConsoleSystem> {
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const topics = await connectBenchTopics(servers.kafkaBrokers);
  const keys = Array.from({ length: projectCount }, () => `phc_bench_${randomUUID().replaceAll('-', '')}`);
  const ends: (() => Promise<void>)[] = [() => topics.stop()];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    const database = await createBenchDatabase(keys[0] ?? '');
    ends.push(() => database.drop());
    await addProjects(database, keys.slice(1));
    const [{ sizes }, programs] = await Promise.all([
      writeConsole(directory),
      compilePrograms([
        'services/ingest-gateway/src/main.ts',
        'services/event-consumer/src/main.ts',
        'services/management-api/src/main.ts',
        'packages/bench/src/load/load-generator.ts',
        'packages/bench/src/console/watch-streams.ts',
        'packages/bench/src/console/publish-events.ts',
      ]),
    ]);
    ends.push(() => programs.remove());
    const settings = {
      DATABASE_URL: database.url,
      KAFKA_BROKERS: servers.kafkaBrokers.join(','),
      REDIS_URL: servers.redisUrl,
      ...{ EVENT_LOG: 'kafka', TOPIC_PREFIX: prefix, TOPIC_PARTITIONS: String(partitions), PUBLISH_PROCESSED: 'on' },
      ...{ LOG_LEVEL: 'warn', INGEST_PORT: '0', HEALTH_PORT: '0', API_PORT: '0', CONSOLE_DIRECTORY: directory },
      ...{ API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0', LIVE_STREAMS_PER_USER: '100000' },
      // One more than watchers are asked for: an open page has one too.
      ...{ LIVE_STREAMS_PER_PROJECT: '100000', LIVE_STREAMS_PER_PROCESS: '100000' },
    };
    const start = async (file = '') => {
      const one = await startMeasured(file, settings);
      ends.push(async () => void (await one.stop()));
      return one;
    };
    const [gatewayFile, consumerFile, apiFile, loadFile, watchFile, publishFile] = programs.files;
    const gateway = await start(gatewayFile);
    const consumer = await start(consumerFile);
    const api = await start(apiFile);
    for (const { port } of [gateway, consumer, api]) await waitUntilReady(port);
    const loads = {
      ...{ events: await start(loadFile), publisher: await start(publishFile) },
      ...{ questions: await start(loadFile), watchers: await start(watchFile) },
    };
    const rows = await database.query<BenchProject>(
      'SELECT id, api_token AS "apiKey" FROM environment ORDER BY array_position($1::text[], api_token)',
      [keys],
    );
    const log = { brokers: servers.kafkaBrokers, processedTopic: topicNames(prefix).processed };
    return { database, gateway, api, ...loads, ...log, sizes, projects: rows, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Events of a request; many in one cost the machine less, and what is measured is behind the gateway. */
export const eventsPerBatch = 25;

/** Whole requests with events of 1 KB, the projects in turn. No event has a uuid or a time: each is new whenever it is sent. */
export function batchesFor(projects: readonly BenchProject[], perProject = 4): string[] {
  return Array.from({ length: perProject * projects.length }, (_, at) => {
    const project = projects[at % projects.length];
    const batch = Array.from({ length: eventsPerBatch }, (_unused, index) => ({
      event: index % 3 === 0 ? 'order placed' : '$pageview',
      distinct_id: `visitor-${at}-${index}`,
      properties: fillerProperties(at * eventsPerBatch + index, 900),
    }));
    return requestText('POST /batch/', {}, { api_key: project?.apiKey, batch });
  });
}
