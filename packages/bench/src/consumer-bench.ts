import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type DrainMeasurement, measureDrain } from './drain/measure-drain.ts';
import { environmentFacts, median, readable, textTable, verdict } from './report/report.ts';
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

export type ConsumerSide = 'millrace' | 'naive' | 'copy';

export interface ConsumerMeasurement extends DrainMeasurement {
  side: ConsumerSide;
}

/** Targets on 2 cores, with PostgreSQL on the same machine. */
const targets = { eventsPerSecond: 10_000, timesNaive: 4, timesCopy: 0.5, rssMegabytes: 200 } as const;

/** Every run, then medians with their ratios, then the targets and whether they are met. */
export function consumerReport(measurements: readonly ConsumerMeasurement[]): string {
  const of = (side: ConsumerSide) => medians(measurements.filter((run) => run.side === side));
  const ours = of('millrace');
  const others = [...new Set(measurements.map(({ side }) => side))].filter((side) => side !== 'millrace');
  const times = (side: ConsumerSide) => (ours[0] ?? Number.NaN) / (of(side)[0] ?? Number.NaN);
  const wrong = measurements.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return [
    'Every run',
    textTable([
      ['run', ...headings, 's from spawn', 'sent', 'rows', 'uuids', 'persons'],
      ...measurements.map((run) => [
        run.side,
        ...medians([run]).map(known),
        readable(run.secondsFromSpawn),
        ...[run.sent, run.rows, run.uuids, run.persons].map(readable),
      ]),
    ]),
    '',
    'Medians',
    textTable([
      ['', ...headings],
      ['millrace', ...ours.map(known)],
      ...others.flatMap((side) => [
        [side, ...of(side).map(known)],
        [`millrace over ${side}`, ...ours.map((value, index) => ratio(value, of(side)[index]))],
      ]),
    ]),
    '',
    'The other sides store event rows only: no persons, merges, groups, warnings or protection against duplicates.',
    '',
    'Targets',
    verdict('mixed events per second', ours[0] ?? Number.NaN, { atLeast: targets.eventsPerSecond }),
    verdict('events per second over createMany', times('naive'), { atLeast: targets.timesNaive }),
    ...(others.includes('copy')
      ? [verdict('events per second over COPY of the rows', times('copy'), { atLeast: targets.timesCopy })]
      : []),
    verdict('max RSS MB', ours[3] ?? Number.NaN, { atMost: targets.rssMegabytes }),
    verdict('runs whose rows are not exactly the events sent', wrong.length, { atMost: 0 }),
  ].join('\n');
}

const headings = ['events/s', 'cpu µs/event', 'postgresql µs/event', 'max RSS MB'];

function medians(runs: readonly ConsumerMeasurement[]): number[] {
  return [
    median(runs.map((run) => run.eventsPerSecond)),
    median(runs.map((run) => run.cpuMicrosPerEvent)),
    median(runs.map((run) => run.databaseMicrosPerEvent)),
    median(runs.map((run) => run.maxRssBytes / 2 ** 20)),
  ];
}

function known(value: number): string {
  return Number.isNaN(value) ? '?' : readable(value);
}

function ratio(value: number, other = Number.NaN): string {
  const times = value / other;
  return Number.isNaN(times) ? '?' : times.toFixed(2);
}
