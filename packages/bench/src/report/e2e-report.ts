import { percentile } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export interface E2eMeasurement {
  /** Events per second that were due. */
  rate: number;
  /** From due to visible in PostgreSQL, milliseconds, one for each marker; Infinity = never seen. */
  visibleAfterMs: number[];
  /** From due to the answer, of requests. */
  answerP50Ms: number;
  answerP99Ms: number;
  sent: number;
  acknowledged: number;
  /** Rows and different uuids at the end; `uuidsAcknowledged` without those of requests nobody acknowledged. */
  rows: number;
  uuids: number;
  uuidsAcknowledged: number;
  /** Whether the last marker is listed by the management API. */
  isListed: boolean;
  processes: { name: string; cpuMicrosPerEvent: number; maxRssBytes: number }[];
}

const targets = { p95Ms: 1000 } as const;

export function e2eReport(run: E2eMeasurement): string {
  const shares = [0.5, 0.95, 0.99, 1].map((share) => percentile(run.visibleAfterMs, share));
  const lost = run.acknowledged - run.uuidsAcknowledged;
  const doubled = run.rows - run.uuids;
  return [
    `At ${readable(run.rate)} events/s, from the moment a request was due (${readable(run.visibleAfterMs.length)} events looked up)`,
    textTable([
      ['', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
      ['visible in PostgreSQL', ...shares.map(readable)],
      ['request answered', readable(run.answerP50Ms), '', readable(run.answerP99Ms), ''],
    ]),
    '',
    textTable([
      ['events', 'sent', 'acknowledged', 'stored', 'lost', 'doubled'],
      ['', ...[run.sent, run.acknowledged, run.rows, lost, doubled].map(readable)],
    ]),
    '',
    textTable([
      ['', 'cpu µs/event', 'max RSS MB'],
      ...run.processes.map(({ name, cpuMicrosPerEvent, maxRssBytes }) => [
        name,
        known(cpuMicrosPerEvent),
        known(maxRssBytes / 2 ** 20),
      ]),
    ]),
    '',
    'Targets',
    verdict(`ms until visible at ${readable(run.rate)} events/s, p95`, shares[1] ?? Number.NaN, {
      atMost: targets.p95Ms,
    }),
    verdict('events acknowledged and not stored', lost, { atMost: 0 }),
    verdict('events stored more than once', doubled, { atMost: 0 }),
    verdict('markers the management API does not list', run.isListed ? 0 : 1, { atMost: 0 }),
  ].join('\n');
}

function known(value: number): string {
  return Number.isNaN(value) ? '?' : readable(value);
}
