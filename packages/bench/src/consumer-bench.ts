// Benchmark of the event consumer: how fast it stores the events of a full topic.

import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { type DrainMeasurement, type FilledTopic, measureDrain } from './drain/measure-drain.ts';
import { prefillEvents } from './drain/prefill.ts';
import { type Bench, programs, withBench } from './harness/bench.ts';
import { addProjects, createBenchDatabase, generateProjectKey } from './harness/bench-database.ts';
import type { Print } from './harness/command.ts';
import {
  type Columns,
  formatFigure,
  formatMedians,
  formatReport,
  formatRuns,
  median,
  type Target,
} from './harness/report.ts';

export interface ConsumerBenchOptions {
  pairs: number;
  events: number;
  copy: boolean;
  /** Numbers of projects. Each number is measured separately. */
  projects: number[];
  /** Numbers of events to store before a run. Each number is measured separately. */
  prefill: number[];
  /** Number of events to process before the measurement, so that it excludes each project's one-time cost. */
  warmUp: number;
}

type Side = 'millrace' | 'createMany' | 'COPY';

/**
 * Measures how fast a consumer drains a full topic into a new database. With one number of projects and one number of
 * stored events, compares Millrace with simpler consumers. With several numbers, compares Millrace's cost per event.
 */
export async function benchConsumer(options: ConsumerBenchOptions, print: Print): Promise<void> {
  await withBench(print, async (bench) => {
    const measurements: ConsumerMeasurement[] = [];
    for (const projects of options.projects) {
      const { topic, keys } = await fillTopic(projects, options, bench);
      for (const stored of options.prefill) {
        measurements.push(...(await measureSituation({ topic, keys, stored }, options, bench)));
      }
    }
    return formatConsumerReport(measurements);
  });
}

const isComparison = ({ projects, prefill: stored }: ConsumerBenchOptions) => projects.length * stored.length === 1;

async function fillTopic(projects: number, { events }: ConsumerBenchOptions, { topics, print }: Bench) {
  const prefix = `bench-${randomUUID()}.`;
  const keys = Array.from({ length: projects }, generateProjectKey);
  await topics.create(Object.values(topicNames(prefix)));
  print(`filling a topic with ${events} mixed events from ${projects} project(s)`);
  return { keys, topic: { prefix, count: events, lastEvents: await topics.fill(prefix, keys, events) } };
}

async function measureSituation(
  { topic, keys, stored }: { topic: FilledTopic; keys: string[]; stored: number },
  options: ConsumerBenchOptions,
  bench: Bench,
): Promise<ConsumerMeasurement[]> {
  const measurements: ConsumerMeasurement[] = [];
  const original = await createBenchDatabase(keys[0] ?? '');
  try {
    await addProjects(original, keys.slice(1));
    if (stored > 0) await prefillEvents(original, stored);
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const side of sidesOf(options)) {
        const run = { side, projects: keys.length, stored };
        bench.print(`${nameOf(run)}: run ${pair} of ${options.pairs}`);
        const database = await original.copy();
        try {
          if (side !== 'millrace') await database.query('CREATE TABLE event_any_month PARTITION OF event DEFAULT');
          const file = await bench.compile(side === 'millrace' ? programs.consumer : naiveConsumer);
          const settings: Record<string, string> = side === 'COPY' ? { NAIVE_WRITE: 'copy' } : {};
          const drained = await measureDrain(file, topic, { database, settings, warmUp: options.warmUp });
          measurements.push({ ...run, ...drained });
        } finally {
          await database.drop();
        }
      }
    }
  } finally {
    await original.drop();
  }
  return measurements;
}

const naiveConsumer = 'packages/bench/src/naive/naive-consumer.ts';

function sidesOf(options: ConsumerBenchOptions): Side[] {
  if (!isComparison(options)) return ['millrace'];
  return options.copy ? ['millrace', 'createMany', 'COPY'] : ['millrace', 'createMany'];
}

export interface ConsumerMeasurement extends DrainMeasurement {
  side: Side;
  projects: number;
  /** Number of events that were stored before the run. */
  stored: number;
}

function nameOf({ side, projects, stored }: Pick<ConsumerMeasurement, 'side' | 'projects' | 'stored'>): string {
  return `${side}, ${formatFigure(projects)} project(s), ${formatFigure(stored)} stored`;
}

const columns = {
  'events/s': (run) => run.eventsPerSecond,
  'cpu µs/event': (run) => run.cpuMicrosPerEvent,
  'postgresql µs/event': (run) => run.databaseMicrosPerEvent,
  'max RSS MB': (run) => run.maxRssBytes / 2 ** 20,
  sent: (run) => run.sent,
  rows: (run) => run.rows,
  uuids: (run) => run.uuids,
} satisfies Columns<ConsumerMeasurement>;

export function formatConsumerReport(runs: readonly ConsumerMeasurement[]): string {
  const of = (name: string, column: keyof typeof columns) =>
    median(runs.filter((run) => nameOf(run) === name).map(columns[column]));
  // If PostgreSQL's CPU time is unknown, the report compares only the consumer's CPU time.
  const cost = (name: string) => of(name, 'cpu µs/event') + (of(name, 'postgresql µs/event') || 0);
  const [first = '', ...others] = new Set(runs.map(nameOf));
  const targets = others.map((name): Target => {
    const side = runs.find((run) => nameOf(run) === name)?.side ?? 'millrace';
    if (side === 'millrace') return [`CPU per event, ${name} over ${first}`, cost(name) / cost(first), { atMost: 1.2 }];
    const ratio = of(first, 'events/s') / of(name, 'events/s');
    return [`events per second relative to ${side} of the rows`, ratio, { atLeast: side === 'COPY' ? 0.5 : 4 }];
  });
  return formatReport(
    [
      ['Every run', formatRuns(runs, nameOf, columns)],
      [
        'Medians. createMany and COPY store only event rows: no persons, merges, groups or warnings, and no protection against duplicates',
        formatMedians(
          runs,
          nameOf,
          columns,
          others.map((name) => [first, name]),
        ),
      ],
    ],
    [
      ['mixed events per second', of(first, 'events/s'), { atLeast: 10_000 }],
      ['max RSS MB', of(first, 'max RSS MB'), { atMost: 200 }],
      ...targets,
      inexactRuns(runs),
    ],
  );
}

function inexactRuns(runs: readonly DrainMeasurement[]): Target {
  const inexact = runs.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return ['runs whose rows do not match the events sent', inexact.length, { atMost: 0 }];
}
