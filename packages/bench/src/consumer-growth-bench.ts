import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type FilledTopic, measureDrain } from './drain/measure-drain.ts';
import { prefill } from './drain/prefill.ts';
import { environmentFacts } from './report/environment-facts.ts';
import { type GrowthMeasurement, growthReport } from './report/growth-report.ts';
import { addProjects } from './topic/add-projects.ts';
import { createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';

export interface ConsumerGrowthOptions {
  /** Runs of each situation. */
  pairs: number;
  /** Events in the topic. */
  events: number;
  /** Numbers of projects the events are spread over; the first is what the others are compared with. */
  projects: number[];
  /** Events stored beforehand, beside the situation with none; 0 = only that. */
  prefill: number;
}

const partitions = 8;

/** What an event costs the consumer the more projects it serves, and the more is stored: the same drain each time. */
export async function benchConsumerGrowth(
  options: ConsumerGrowthOptions,
  print: (line: string) => void,
): Promise<void> {
  const topics = await connectBenchTopics(testServers().kafkaBrokers);
  const programs = await compilePrograms(['services/event-consumer/src/main.ts']);
  const [file = ''] = programs.files;
  try {
    const filled: { topic: FilledTopic; keys: string[] }[] = [];
    for (const count of options.projects) {
      const prefix = `bench-${randomUUID()}.`;
      const keys = Array.from({ length: count }, () => `phc_bench_${randomUUID().replaceAll('-', '')}`);
      await topics.create(Object.values(topicNames(prefix)), partitions);
      print(`filling a topic with ${options.events} mixed events of ${count} project(s)`);
      const lastEvents = await topics.preload(prefix, keys, { count: options.events, partitions });
      filled.push({ topic: { prefix, partitions, count: options.events, lastEvents }, keys });
    }
    const measurements: GrowthMeasurement[] = [];
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const { topic, keys } of filled) {
        for (const stored of options.prefill > 0 ? [0, options.prefill] : [0]) {
          const database = await createBenchDatabase(keys[0] ?? '');
          try {
            if (measurements.length === 0) for (const line of await environmentFacts(topics, database)) print(line);
            await addProjects(database, keys.slice(1));
            await prefill(database, stored);
            print(`pair ${pair} of ${options.pairs}: ${keys.length} project(s), ${stored} events stored`);
            measurements.push({ projects: keys.length, stored, ...(await measureDrain(file, topic, database)) });
          } finally {
            await database.drop();
          }
        }
      }
    }
    print('');
    print(growthReport(measurements));
  } finally {
    await topics.stop();
    await programs.remove();
  }
}
