import { median, percentile } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export interface ListMeasurement {
  /** Which list, e.g. `projects`. */
  list: string;
  size: 'small' | 'large';
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicrosPerRequest: number;
  /** CPU of PostgreSQL's processes; NaN where it cannot be seen. */
  databaseMicrosPerRequest: number;
  statementsPerRequest: number;
  /** Answers other than 200, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
}

export interface ManagementMeasurement {
  lists: ListMeasurement[];
  /** From the start of the process to the first ready answer, one for each start. */
  readySeconds: number[];
  maxRssBytes: number;
}

const targets = { requestsPerSecond: 1500, p99Ms: 20, rssMegabytes: 200, readySeconds: 1.5 } as const;

/** @param mainList the list whose small size the targets of speed are for. */
export function managementReport(
  { lists, readySeconds, maxRssBytes }: ManagementMeasurement,
  mainList: string,
): string {
  const main = lists.find(({ list, size }) => list === mainList && size === 'small');
  const large = lists.filter(({ size }) => size === 'large');
  const slowest = percentile(
    large.map(({ p99Ms }) => p99Ms),
    1,
  );
  const growing = large.filter(
    (run) =>
      run.statementsPerRequest !==
      lists.find(({ list, size }) => list === run.list && size === 'small')?.statementsPerRequest,
  );
  const failed = lists.filter(({ otherStatuses }) => Object.keys(otherStatuses).length > 0);
  return [
    textTable([headings, ...lists.map(listRow)]),
    '',
    `ready after ${readable(median(readySeconds))} s (median of ${readySeconds.length}), max RSS ${readable(maxRssBytes / 2 ** 20)} MB`,
    '',
    'Targets',
    verdict(`requests/s of ${mainList}`, main?.requestsPerSecond ?? Number.NaN, { atLeast: targets.requestsPerSecond }),
    verdict(`p99 ms of ${mainList}`, main?.p99Ms ?? Number.NaN, { atMost: targets.p99Ms }),
    verdict('p99 ms of the slowest list of the large organization', slowest, { atMost: targets.p99Ms }),
    verdict('lists with more statements the larger they are', growing.length, { atMost: 0 }),
    verdict('lists with answers other than 200', failed.length, { atMost: 0 }),
    verdict('max RSS MB', maxRssBytes / 2 ** 20, { atMost: targets.rssMegabytes }),
    verdict('seconds until ready', median(readySeconds), { atMost: targets.readySeconds }),
  ].join('\n');
}

const headings = [
  'list',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'cpu µs/request',
  'postgresql µs/request',
  'statements',
  'other answers',
];

function listRow(run: ListMeasurement): string[] {
  const others = Object.entries(run.otherStatuses).map(([status, count]) => `${status}: ${count}`);
  return [
    `${run.list}, ${run.size}`,
    ...[run.requestsPerSecond, run.p50Ms, run.p99Ms, run.cpuMicrosPerRequest].map(readable),
    Number.isNaN(run.databaseMicrosPerRequest) ? '?' : readable(run.databaseMicrosPerRequest),
    readable(run.statementsPerRequest),
    others.join(', ') || 'none',
  ];
}
