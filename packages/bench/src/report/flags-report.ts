import {
  type Columns,
  everyRun,
  median,
  mediansByName,
  type RequestRun,
  readable,
  report,
  statusesIn,
} from './report.ts';

export interface EvaluatorMeasurement {
  side: 'millrace' | 'posthog-node';
  /** How many flags are evaluated at once. */
  flags: number;
  cpuMicros: number;
}

/** As fast as it goes, and at a steady rate. */
export interface RequestLoops {
  closed: RequestRun[];
  open: RequestRun[];
}

export interface DefinitionMeasurement {
  status: 200 | 304;
  /** Of the body. */
  bytes: number;
  runs: RequestRun[];
}

/** 99th percentiles of events in a closed loop, milliseconds, alternating with and without questions beside. */
export interface BesideIngest {
  alone: number[];
  beside: number[];
  questionsPerSecond: number;
  /** Of the questions. */
  otherStatuses: Record<string, number>;
}

export interface MemoryMeasurement {
  projects: number;
  /** What the heap and buffers grew by, collected before and after. */
  keptBytes: number;
  rssBytes: number;
  /** What the service itself believes that it keeps. */
  countedBytes: number;
  /** Of the projects asked for last and of those asked for first, how many had to be read again. */
  reloadedNewest: number;
  reloadedOldest: number;
  askedAgain: number;
}
export interface LimitedMemory extends MemoryMeasurement {
  limitBytes: number;
}

export interface FlagsMeasurement {
  evaluator: EvaluatorMeasurement[];
  questions: RequestLoops;
  /** For which a person is read; the open loop at 1,000 requests a second. */
  personReads: RequestLoops;
  definitions: DefinitionMeasurement[];
  besideIngest: BesideIngest;
  /** With room for all of them. */
  memory: LimitedMemory;
  /** The same projects as a gateway is usually set up, and with a limit that they are far from fitting in. */
  limitedMemory: LimitedMemory[];
}

type NamedRun = RequestRun & { name: string };

const megabyte = 2 ** 20;

const requestColumns = {
  'requests/s': (run) => run.requestsPerSecond,
  'p50 ms': (run) => run.p50Ms,
  'p99 ms': (run) => run.p99Ms,
  'cpu µs/request': (run) => run.cpuMicros,
  'postgresql µs/request': (run) => run.databaseMicros,
  'max RSS MB': (run) => run.maxRssBytes / megabyte,
  'other responses': (run) => statusesIn(run.otherStatuses),
} satisfies Columns<NamedRun>;

const memoryColumns: Columns<LimitedMemory> = {
  'kept MB': (one) => one.keptBytes / megabyte,
  'RSS MB added': (one) => one.rssBytes / megabyte,
  'counted MB': (one) => one.countedBytes / megabyte,
  'newest reloaded': (one) => `${one.reloadedNewest} of ${one.askedAgain}`,
  'oldest reloaded': (one) => `${one.reloadedOldest} of ${one.askedAgain}`,
};

/** Medians, then targets: on 2 cores. */
export function flagsReport(measured: FlagsMeasurement): string {
  const { evaluator, questions, personReads, definitions, besideIngest, memory, limitedMemory } = measured;
  const named = (name: string, runs: readonly RequestRun[]): NamedRun[] => runs.map((run) => ({ ...run, name }));
  const requests = [
    ...named('50 flags, closed loop', questions.closed),
    ...named('50 flags, half load', questions.open),
    ...named('50 flags, person read, closed loop', personReads.closed),
    ...named('50 flags, person read, 1,000/s', personReads.open),
    ...definitions.flatMap(({ status, runs }) => named(`definitions of 500 flags, ${status}`, runs)),
  ];
  const of = (name: string, column: 'requests/s' | 'p99 ms' | 'cpu µs/request' | 'postgresql µs/request') =>
    median(requests.filter((run) => run.name === name).map(requestColumns[column]));
  const micros = (flags: number) =>
    evaluator.find((one) => one.side === 'millrace' && one.flags === flags)?.cpuMicros ?? Number.NaN;
  const failed = [...requests, besideIngest].filter(({ otherStatuses }) => Object.keys(otherStatuses).length > 0);
  // What was dropped takes no memory, and would make the figure look better than it is.
  const kept = memory.reloadedOldest === 0 ? memory.keptBytes / megabyte : Number.NaN;
  const excess = limitedMemory.map(({ countedBytes, limitBytes }) => (countedBytes - limitBytes) / megabyte);
  const dropped = limitedMemory.reduce((sum, { reloadedNewest }) => sum + reloadedNewest, 0);
  const events = [
    ...besideIngest.alone.map((p99Ms) => ({ name: 'alone', p99Ms })),
    ...besideIngest.beside.map((p99Ms) => ({ name: `with ${besideIngest.questionsPerSecond} flag requests/s`, p99Ms })),
  ];
  const evaluators = everyRun(evaluator, ({ side, flags }) => `${side}, ${readable(flags)} flags`, {
    'cpu µs': (one) => one.cpuMicros,
    'cpu µs/flag': (one) => one.cpuMicros / one.flags,
  });
  const limits = everyRun(
    [memory, ...limitedMemory],
    (one) => `limit of ${one.limitBytes / megabyte} MB`,
    memoryColumns,
  );
  return report(
    [
      ['Evaluators', evaluators],
      ['Requests', mediansByName(requests, ({ name }) => name, requestColumns)],
      ['Events in a closed loop', mediansByName(events, ({ name }) => name, { 'p99 ms': ({ p99Ms }) => p99Ms })],
      [`Definitions of ${readable(memory.projects)} projects x 100 flags in memory`, limits],
    ],
    [
      ['evaluator, CPU µs of 50 flags', micros(50), { atMost: 150 }],
      ['evaluator, CPU µs of 1,000 flags', micros(1000), { atMost: 2000 }],
      [
        'evaluator, cost per flag with 2,000 flags relative to 1,000 flags',
        micros(2000) / 2 / micros(1000),
        { atMost: 1.2 },
      ],
      ['/flags, gateway CPU µs', of('50 flags, closed loop', 'cpu µs/request'), { atMost: 250 }],
      ['/flags, requests/s', of('50 flags, closed loop', 'requests/s'), { atLeast: 3000 }],
      ['/flags, p99 ms at half load', of('50 flags, half load', 'p99 ms'), { atMost: 15 }],
      [
        '/flags with a person read, gateway CPU µs',
        of('50 flags, person read, closed loop', 'cpu µs/request'),
        { atMost: 250 },
      ],
      [
        '/flags with a person read, PostgreSQL CPU µs',
        of('50 flags, person read, closed loop', 'postgresql µs/request'),
        { atMost: 200 },
      ],
      [
        '/flags with a person read, p99 ms at 1,000 requests/s',
        of('50 flags, person read, 1,000/s', 'p99 ms'),
        { atMost: 20 },
      ],
      ['definitions, 304, gateway CPU µs', of('definitions of 500 flags, 304', 'cpu µs/request'), { atMost: 60 }],
      ['definitions, 200, gateway CPU µs', of('definitions of 500 flags, 200', 'cpu µs/request'), { atMost: 300 }],
      [
        'p99 ms added to events by flag requests',
        median(besideIngest.beside) - median(besideIngest.alone),
        { atMost: 5 },
      ],
      ['runs with unexpected responses', failed.length, { atMost: 0 }],
      [`MB of memory for ${readable(memory.projects)} projects x 100 flags`, kept, { atMost: 150 }],
      ['MB counted above a limit', Math.max(0, ...excess), { atMost: 0 }],
      ['most recently requested projects that were evicted', dropped, { atMost: 0 }],
    ],
  );
}
