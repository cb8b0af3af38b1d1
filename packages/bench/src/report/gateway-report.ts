import type { WorkloadName } from '../workload/gateway-workloads.ts';
import { median } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

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

/** The target of the first landing, for the single 2 KB event on 2 cores: CPU of the gateway over CPU of the naive one. */
const cpuRatioTarget = 0.3;

/** Every run, then medians with their ratios, then the targets and whether they are met. */
export function gatewayReport(measurements: readonly GatewayMeasurement[]): string {
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
  const ratio = (workload: WorkloadName) =>
    (medians(of(workload, 'closed', 'millrace'))[0] ?? Number.NaN) /
    (medians(of(workload, 'closed', 'naive'))[0] ?? Number.NaN);
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
    'Targets',
    verdict('CPU per single 2 KB event, gateway over naive', ratio('single-2kb'), { atMost: cpuRatioTarget }),
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
