import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { measureDrain } from './drain/measure-drain.ts';
import { type ConsumerMeasurement, type ConsumerSide, consumerReport } from './report/consumer-report.ts';
import { environmentFacts } from './report/environment-facts.ts';
import { createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';

export interface ConsumerBenchOptions {
  /** Runs of each side. */
  pairs: number;
  /** Events in the topic. */
  events: number;
  /** Whether COPY of the rows runs as a third side. */
  withCopy: boolean;
}

const partitions = 8;

/** The event consumer against the naive ones, turn about: each drains the same full topic into a fresh database. */
export async function benchConsumer(options: ConsumerBenchOptions, print: (line: string) => void): Promise<void> {
  const prefix = `bench-${randomUUID()}.`;
  const projectApiKey = `phc_bench_${randomUUID().replaceAll('-', '')}`;
  const topics = await connectBenchTopics(testServers().kafkaBrokers);
  const programs = await compilePrograms([
    'services/event-consumer/src/main.ts',
    'packages/bench/src/naive/naive-consumer.ts',
    'packages/bench/src/naive/copy-consumer.ts',
  ]);
  const [millrace = '', naive = '', copy = ''] = programs.files;
  const sides: [ConsumerSide, string][] = [
    ['millrace', millrace],
    ['naive', naive],
  ];
  if (options.withCopy) sides.push(['copy', copy]);
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    print(`filling the topic with ${options.events} mixed events`);
    const lastEvents = await topics.preload(prefix, [projectApiKey], { count: options.events, partitions });
    const topic = { prefix, partitions, count: options.events, lastEvents };
    const measurements: ConsumerMeasurement[] = [];
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const [side, file] of sides) {
        const database = await createBenchDatabase(projectApiKey);
        try {
          if (measurements.length === 0) for (const line of await environmentFacts(topics, database)) print(line);
          if (side !== 'millrace') await database.query('CREATE TABLE event_any_month PARTITION OF event DEFAULT');
          print(`pair ${pair} of ${options.pairs}: ${side}`);
          measurements.push({ side, ...(await measureDrain(file, topic, database)) });
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
