import type { WorkloadName } from '../workload/gateway-workloads.ts';
import { median, readable, textTable, verdict } from './report.ts';

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

/** 99th percentiles of small requests at a steady rate, milliseconds, turn about with and without a large batch beside. */
export interface ImpactMeasurement {
  alone: number[];
  beside: number[];
  /** Large batches that were taken meanwhile. */
  batches: number;
}

/** On 2 cores, with acks from all replicas. */
const targets = { cpuRatio: 0.2, singleMicros: 60, batchMicros: 20, p50Ms: 8, p99Ms: 25, rssMb: 200, addedMs: 50 };

/** Every run, then medians with their ratios, then the targets and whether they are met. */
export function gatewayReport(measurements: readonly GatewayMeasurement[], large: ImpactMeasurement): string {
  const of = (workload: WorkloadName, loop: 'closed' | 'open', side: 'millrace' | 'naive') =>
    measurements.filter((run) => run.workload === workload && run.loop === loop && run.side === side);
  const workloads = [...new Set(measurements.map(({ workload }) => workload))];
  const summary = workloads.flatMap((workload) =>
    (['closed', 'open'] as const).flatMap((loop) => {
      const ours = medians(of(workload, loop, 'millrace'));
      const naive = medians(of(workload, loop, 'naive'));
      return [
        [`${workload} ${loop} millrace`, ...ours.map(readable)],
        [`${workload} ${loop} naive`, ...naive.map(readable)],
        [`${workload} ${loop} ratio`, ...ours.map((value, index) => (value / (naive[index] ?? Number.NaN)).toFixed(2))],
      ];
    }),
  );
  const figure = (workload: WorkloadName, loop: 'closed' | 'open', side: 'millrace' | 'naive', column: number) =>
    medians(of(workload, loop, side))[column] ?? Number.NaN;
  const cpu = (workload: WorkloadName, side: 'millrace' | 'naive') => figure(workload, 'closed', side, 0);
  const added = median(large.beside) - median(large.alone);
  const lost = measurements.filter((run) => run.eventsInTopic < run.acknowledgedEvents);
  const doubled = measurements.filter(
    (run) => Object.keys(run.otherStatuses).length === 0 && run.eventsInTopic > run.acknowledgedEvents,
  );
  return [
    'Every run',
    textTable([runHeadings, ...measurements.map(runRow)]),
    '',
    'Medians (ratio = millrace over naive; below 1 is better for everything but events/s)',
    textTable([['', ...medianHeadings], ...summary]),
    '',
    'Small requests, p99 ms',
    textTable([
      ['', 'runs', 'median'],
      ['alone', large.alone.map(readable).join(' '), readable(median(large.alone))],
      ['beside a gzip batch of 20 MB', large.beside.map(readable).join(' '), readable(median(large.beside))],
    ]),
    '',
    'Targets',
    verdict(
      'CPU per single 2 KB event, gateway over naive',
      cpu('single-2kb', 'millrace') / cpu('single-2kb', 'naive'),
      {
        atMost: targets.cpuRatio,
      },
    ),
    verdict('CPU µs per single 2 KB event', cpu('single-2kb', 'millrace'), { atMost: targets.singleMicros }),
    verdict('CPU µs per event of a batch of 50 x 1 KB', cpu('batch-50x1kb', 'millrace'), {
      atMost: targets.batchMicros,
    }),
    verdict('p50 ms at half load', figure('single-2kb', 'open', 'millrace', 2), { atMost: targets.p50Ms }),
    verdict('p99 ms at half load', figure('single-2kb', 'open', 'millrace', 3), { atMost: targets.p99Ms }),
    verdict('max RSS MB under these workloads', figure('batch-50x1kb', 'open', 'millrace', 4), {
      atMost: targets.rssMb,
    }),
    verdict(`p99 ms added by ${large.batches} gzip batches of 20 MB beside`, added, { atMost: targets.addedMs }),
    verdict('runs with fewer events in the topic than acknowledged', lost.length, { atMost: 0 }),
    verdict('runs without failures but with more events in the topic than acknowledged', doubled.length, { atMost: 0 }),
  ].join('\n');
}

const medianHeadings = ['cpu µs/event', 'events/s', 'p50 ms', 'p99 ms', 'max RSS MB'];

function medians(runs: readonly GatewayMeasurement[]): number[] {
  return [
    median(runs.map((run) => run.cpuMicrosPerEvent)),
    median(runs.map((run) => run.eventsPerSecond)),
    median(runs.map((run) => run.p50Ms)),
    median(runs.map((run) => run.p99Ms)),
    median(runs.map((run) => run.maxRssBytes / 2 ** 20)),
  ];
}

const runHeadings = ['run', ...medianHeadings, 'acknowledged', 'in topic', 'other answers'];

function runRow(run: GatewayMeasurement): string[] {
  const others = Object.entries(run.otherStatuses).map(([status, count]) => `${status}: ${count}`);
  return [
    `${run.workload} ${run.loop} ${run.side}`,
    ...medians([run]).map(readable),
    readable(run.acknowledgedEvents),
    readable(run.eventsInTopic),
    others.join(', ') || 'none',
  ];
}
