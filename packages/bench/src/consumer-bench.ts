import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type DrainMeasurement, measureDrain } from './drain/measure-drain.ts';
import {
  type Columns,
  environmentFacts,
  everyRun,
  median,
  mediansByName,
  report,
  type Target,
} from './report/report.ts';
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

/** The event consumer against the naive ones, alternating: each drains the same full topic into a fresh database. */
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

/** What is told of any drain. */
export const drainColumns = {
  'events/s': (run) => run.eventsPerSecond,
  'cpu µs/event': (run) => run.cpuMicrosPerEvent,
  'postgresql µs/event': (run) => run.databaseMicrosPerEvent,
  'max RSS MB': (run) => run.maxRssBytes / 2 ** 20,
} satisfies Columns<DrainMeasurement>;

/** Every run, medians with their ratios, and targets: on 2 cores, with PostgreSQL on the same machine. */
export function consumerReport(measurements: readonly ConsumerMeasurement[]): string {
  const nameOf = ({ side }: ConsumerMeasurement) => side;
  const rates = (side: ConsumerSide) =>
    measurements.filter((run) => run.side === side).map(({ eventsPerSecond }) => eventsPerSecond);
  const times = (side: ConsumerSide) => median(rates('millrace')) / median(rates(side));
  const others = [...new Set(measurements.map(nameOf))].filter((side) => side !== 'millrace');
  const ours = measurements.filter(({ side }) => side === 'millrace');
  const counts: Columns<ConsumerMeasurement> = {
    's from spawn': (run) => run.secondsFromSpawn,
    sent: (run) => run.sent,
    rows: (run) => run.rows,
    uuids: (run) => run.uuids,
    persons: (run) => run.persons,
  };
  return report(
    [
      ['Every run', everyRun(measurements, nameOf, { ...drainColumns, ...counts })],
      [
        'Medians. The other programs store only event rows: no persons, merges, groups or warnings, and no protection against duplicates',
        mediansByName(
          measurements,
          nameOf,
          drainColumns,
          others.map((side) => ['millrace', side]),
        ),
      ],
    ],
    [
      ['mixed events per second', median(rates('millrace')), { atLeast: 10_000 }],
      ['events per second relative to createMany', times('naive'), { atLeast: 4 }],
      ...(others.includes('copy')
        ? [['events per second relative to COPY of the rows', times('copy'), { atLeast: 0.5 }] satisfies Target]
        : []),
      ['max RSS MB', median(ours.map(drainColumns['max RSS MB'])), { atMost: 200 }],
      notExact(measurements),
    ],
  );
}

export function notExact(runs: readonly DrainMeasurement[]): Target {
  const wrong = runs.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return ['runs whose rows do not match the events sent', wrong.length, { atMost: 0 }];
}
