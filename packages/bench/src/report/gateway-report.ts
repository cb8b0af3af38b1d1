import type { WorkloadName } from '../workload/gateway-workloads.ts';
import { type Columns, everyRun, median, mediansByName, report, statusesIn } from './report.ts';

export interface GatewayMeasurement {
  side: 'millrace' | 'naive';
  workload: WorkloadName;
  loop: 'closed' | 'open';
  cpuMicrosPerEvent: number;
  requestsPerSecond: number;
  eventsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxRssBytes: number;
  acknowledgedEvents: number;
  eventsInTopic: number;
  /** Answers other than 200, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
}

/** 99th percentiles of small requests at a steady rate, milliseconds, alternating with and without a large batch beside. */
export interface ImpactMeasurement {
  alone: number[];
  beside: number[];
  /** Large batches that were taken meanwhile. */
  batches: number;
}

const columns = {
  'cpu µs/event': (run) => run.cpuMicrosPerEvent,
  'events/s': (run) => run.eventsPerSecond,
  'p50 ms': (run) => run.p50Ms,
  'p99 ms': (run) => run.p99Ms,
  'max RSS MB': (run) => run.maxRssBytes / 2 ** 20,
} satisfies Columns<GatewayMeasurement>;

const nameOf = ({ workload, loop, side }: GatewayMeasurement) => `${workload} ${loop} ${side}`;

/** Every run, medians with their ratios, and targets: on 2 cores, with acks from all replicas. */
export function gatewayReport(measurements: readonly GatewayMeasurement[], large: ImpactMeasurement): string {
  const names = [...new Set(measurements.map(nameOf))].filter((name) => name.endsWith('millrace'));
  const counts: Columns<GatewayMeasurement> = {
    acknowledged: (run) => run.acknowledgedEvents,
    'in topic': (run) => run.eventsInTopic,
    'other responses': (run) => statusesIn(run.otherStatuses),
  };
  const of = (name: string, column: keyof typeof columns) =>
    median(measurements.filter((run) => nameOf(run) === name).map(columns[column]));
  const cpu = (name: string) => of(name, 'cpu µs/event');
  const single = 'single-2kb closed millrace';
  const small = [
    ...large.alone.map((p99Ms) => ({ side: 'alone', p99Ms })),
    ...large.beside.map((p99Ms) => ({ side: 'during a gzip batch of 20 MB', p99Ms })),
  ];
  const lost = measurements.filter((run) => run.eventsInTopic < run.acknowledgedEvents);
  const doubled = measurements.filter(
    (run) => Object.keys(run.otherStatuses).length === 0 && run.eventsInTopic > run.acknowledgedEvents,
  );
  return report(
    [
      ['Every run', everyRun(measurements, nameOf, { ...columns, ...counts })],
      [
        'Medians',
        mediansByName(
          measurements,
          nameOf,
          columns,
          names.map((name) => [name, name.replace('millrace', 'naive')]),
        ),
      ],
      ['Small requests', mediansByName(small, ({ side }) => side, { 'p99 ms': ({ p99Ms }) => p99Ms })],
    ],
    [
      [
        'CPU per single 2 KB event, gateway relative to naive',
        cpu(single) / cpu('single-2kb closed naive'),
        { atMost: 0.2 },
      ],
      ['CPU µs per single 2 KB event', cpu(single), { atMost: 60 }],
      ['CPU µs per event of a batch of 50 x 1 KB', cpu('batch-50x1kb closed millrace'), { atMost: 20 }],
      ['p50 ms at half load', of('single-2kb open millrace', 'p50 ms'), { atMost: 8 }],
      ['p99 ms at half load', of('single-2kb open millrace', 'p99 ms'), { atMost: 25 }],
      ['max RSS MB under these workloads', of('batch-50x1kb open millrace', 'max RSS MB'), { atMost: 200 }],
      [
        `p99 ms added by ${large.batches} simultaneous gzip batches of 20 MB`,
        median(large.beside) - median(large.alone),
        { atMost: 50 },
      ],
      ['runs with fewer events in the topic than acknowledged', lost.length, { atMost: 0 }],
      ['runs without failures but with more events in the topic than acknowledged', doubled.length, { atMost: 0 }],
    ],
  );
}
