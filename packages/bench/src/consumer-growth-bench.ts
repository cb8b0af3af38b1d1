import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type FilledTopic, measureDrain } from './drain/measure-drain.ts';
import { prefill } from './drain/prefill.ts';
import { environmentFacts } from './report/environment-facts.ts';
import { type GrowthMeasurement, growthLine, growthReport } from './report/growth-report.ts';
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
  /** How many events are stored beforehand, in turn. */
  prefills: number[];
  /** Events at the beginning of the topic that are stored before the measuring begins: what each project costs once. */
  warmUp: number;
  /** Whether to say what PostgreSQL's statements cost; the server must have loaded `pg_stat_statements`. */
  withStatements: boolean;
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
    for (const { topic, keys } of filled) {
      for (const stored of options.prefills) {
        const original = await createBenchDatabase(keys[0] ?? '');
        try {
          if (measurements.length === 0) for (const line of await environmentFacts(topics, original)) print(line);
          await addProjects(original, keys.slice(1));
          await prefill(original, stored);
          for (let pair = 1; pair <= options.pairs; pair++) {
            print(`${keys.length} project(s), ${stored} events stored: run ${pair} of ${options.pairs}`);
            const database = await original.copy();
            try {
              const measured = await measureDrain(file, topic, database, options);
              measurements.push({ projects: keys.length, stored, ...measured });
              print(`  ${growthLine(measured)}`);
              for (const line of measured.statements) print(`  ${line}`);
            } finally {
              await database.drop();
            }
          }
        } finally {
          await original.drop();
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
