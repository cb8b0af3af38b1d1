// Writes the report of the feature flag benchmark.

import { type Columns, formatFigure, formatMedians, formatReport, formatStatuses, median } from '../harness/report.ts';
import type { RequestRun } from '../load/measure-requests.ts';
import type { MemoryMeasurement } from './measure-memory.ts';

export type NamedRun = RequestRun & { name: string };

/**
 * A run that sends events in a closed loop. Flag requests may run at the same time, and the run then includes their
 * statuses.
 */
export type EventsRun = Pick<NamedRun, 'name' | 'p99Ms' | 'otherStatuses'>;

export interface FlagsMeasurement {
  evaluations: { name: string; cpuMicros: number }[];
  requests: NamedRun[];
  events: EventsRun[];
  memory: MemoryMeasurement;
}

const nameOf = ({ name }: { name: string }) => name;

const columns = {
  'requests/s': (run) => run.requestsPerSecond,
  'p50 ms': (run) => run.p50Ms,
  'p99 ms': (run) => run.p99Ms,
  'cpu µs': (run) => run.cpuMicros,
  'postgresql µs': (run) => run.databaseMicros,
  'max RSS MB': (run) => run.maxRssBytes / 2 ** 20,
  'other responses': (run) => formatStatuses(run.otherStatuses),
} satisfies Columns<NamedRun>;

export function formatFlagsReport({ evaluations, requests, events, memory }: FlagsMeasurement): string {
  const of = (name: string, column: 'requests/s' | 'p99 ms' | 'cpu µs' | 'postgresql µs') =>
    median(requests.filter((run) => run.name === name).map(columns[column]));
  const evaluation = (name: string) =>
    median(evaluations.filter((one) => one.name === name).map(({ cpuMicros }) => cpuMicros));
  const p99Of = (name: string) => median(events.filter((run) => run.name === name).map(({ p99Ms }) => p99Ms));
  const unexpected = [...requests, ...events].filter(({ otherStatuses }) => Object.keys(otherStatuses).length > 0);
  const [fast, byId] = ['50 flags, closed loop', '50 flags, person read, closed loop'];
  const projects = `${formatFigure(memory.projects)} projects x ${memory.flagsPerProject} flags`;
  const ratios = [['millrace, 50 flags', 'posthog-node, 50 flags']] as const;
  return formatReport(
    [
      ['Evaluators', formatMedians(evaluations, nameOf, { 'cpu µs': ({ cpuMicros }) => cpuMicros }, ratios)],
      ['Requests', formatMedians(requests, nameOf, columns)],
      ['Events in a closed loop', formatMedians(events, nameOf, { 'p99 ms': ({ p99Ms }) => p99Ms })],
    ],
    [
      ['evaluator, CPU µs of 50 flags', evaluation('millrace, 50 flags'), { atMost: 150 }],
      ['evaluator, CPU µs of 1,000 flags', evaluation('millrace, 1000 flags'), { atMost: 2000 }],
      ['/flags, gateway CPU µs', of(fast, 'cpu µs'), { atMost: 250 }],
      ['/flags, requests/s', of(fast, 'requests/s'), { atLeast: 3000 }],
      ['/flags, p99 ms at half load', of('50 flags, half load', 'p99 ms'), { atMost: 15 }],
      ['/flags with a person read, gateway CPU µs', of(byId, 'cpu µs'), { atMost: 250 }],
      ['/flags with a person read, PostgreSQL CPU µs', of(byId, 'postgresql µs'), { atMost: 200 }],
      ['definitions, 304, gateway CPU µs', of('definitions of 500 flags, 304', 'cpu µs'), { atMost: 60 }],
      ['definitions, 200, gateway CPU µs', of('definitions of 500 flags, 200', 'cpu µs'), { atMost: 300 }],
      ['p99 ms added to events by flag requests', p99Of('with flag requests') - p99Of('alone'), { atMost: 5 }],
      ['runs with unexpected responses', unexpected.length, { atMost: 0 }],
      [`MB of memory for ${projects}`, memory.liveBytes / 2 ** 20, { atMost: 150 }],
    ],
  );
}
