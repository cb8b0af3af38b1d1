import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { drainColumns, notExact } from './consumer-bench.ts';
import { type DrainMeasurement, type FilledTopic, measureDrain } from './drain/measure-drain.ts';
import { prefill } from './drain/prefill.ts';
import { environmentFacts, median, mediansByName, readable, report, type Target } from './report/report.ts';
import { addProjects, createBenchDatabase } from './topic/bench-project.ts';
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

export interface GrowthMeasurement extends DrainMeasurement {
  projects: number;
  /** Events that were stored beforehand. */
  stored: number;
}

/** One run, as it comes in. */
function growthLine({ cpuMicrosPerEvent, databaseMicrosPerEvent, eventsPerSecond }: DrainMeasurement): string {
  const [own, database, rate] = [cpuMicrosPerEvent, databaseMicrosPerEvent, eventsPerSecond].map(readable);
  return `${own} + ${database} µs/event, ${rate} events/s`;
}

/** The medians of each situation, and whether events cost as much as in the first one: at most 1.2 times. */
export function growthReport(measurements: readonly GrowthMeasurement[]): string {
  const [first = '', ...others] = new Set(measurements.map(nameOf));
  // Without a look at PostgreSQL's processes, at least the consumer's own cost is judged.
  const cost = (name: string) => {
    const runs = measurements.filter((run) => nameOf(run) === name);
    return (
      median(runs.map((run) => run.cpuMicrosPerEvent)) + (median(runs.map((run) => run.databaseMicrosPerEvent)) || 0)
    );
  };
  return report(
    [
      [
        'Medians',
        mediansByName(
          measurements,
          nameOf,
          drainColumns,
          others.map((name) => [name, first]),
        ),
      ],
    ],
    [
      ...others.map(
        (name): Target => [`CPU per event, ${name} over ${first}`, cost(name) / cost(first), { atMost: 1.2 }],
      ),
      notExact(measurements),
    ],
  );
}

function nameOf({ projects, stored }: GrowthMeasurement): string {
  return `${readable(projects)} project(s), ${readable(stored)} stored`;
}
