import type { MeasuredProcess } from '../process/measured-process.ts';
import type { PersonReads, QuestionMeasurement, RequestRun } from '../report/flags-measurement.ts';
import { median } from '../report/statistics.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import { measureRequests, type RequestLoad } from './measure-requests.ts';

export interface QuestionSide {
  name: 'millrace' | 'unleash';
  server: MeasuredProcess;
  requests: string[];
}

export interface QuestionOptions {
  pairs: number;
  seconds: number;
  connections: number;
  load: MeasuredProcess;
  database: BenchDatabase;
  print(line: string): void;
}

const warmUpMs = 2000;
/** Of an open loop. */
const waitingConnections = 64;

/** Turn about: a closed loop (what can it do, at what CPU), then an open one at half of what that side could do. */
export async function measureQuestions(
  sides: readonly QuestionSide[],
  options: QuestionOptions,
): Promise<QuestionMeasurement[]> {
  const durationMs = options.seconds * 1000;
  const closed = { connections: options.connections, requestsPerSecond: null, durationMs };
  const all = sides.map((side) => ({ side, closed: [] as RequestRun[], open: [] as RequestRun[] }));
  for (const { side } of all) await measureSide(side, { ...closed, durationMs: warmUpMs }, options);
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const { side, closed: runs } of all) {
      options.print(`questions, pair ${pair} of ${options.pairs}: ${side.name}`);
      runs.push(await measureSide(side, closed, options));
    }
  }
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const { side, closed: before, open: runs } of all) {
      const requestsPerSecond = median(before.map((run) => run.requestsPerSecond)) / 2;
      options.print(`questions at ${Math.round(requestsPerSecond)}/s, pair ${pair} of ${options.pairs}: ${side.name}`);
      runs.push(await measureSide(side, { connections: waitingConnections, requestsPerSecond, durationMs }, options));
    }
  }
  return all.flatMap(({ side, closed: closedRuns, open }) => [
    { side: side.name, loop: 'closed' as const, runs: closedRuns },
    { side: side.name, loop: 'open' as const, runs: open },
  ]);
}

/** Questions for which the person is read: a closed loop, and one at a steady rate. */
export async function measurePersonReads(
  { server, requests }: Pick<QuestionSide, 'server' | 'requests'>,
  { pairs, seconds, connections, ...options }: QuestionOptions,
): Promise<PersonReads> {
  const side = { name: 'millrace' as const, server, requests };
  const durationMs = seconds * 1000;
  const closed = { connections, requestsPerSecond: null, durationMs };
  const open = { connections: waitingConnections, requestsPerSecond: 1000, durationMs };
  const measured: PersonReads = { closed: [], open: [] };
  await measureSide(side, { ...closed, durationMs: warmUpMs }, options);
  for (let run = 1; run <= pairs; run++) {
    options.print(`questions with a person read, run ${run} of ${pairs}`);
    measured.closed.push(await measureSide(side, closed, options));
    measured.open.push(await measureSide(side, open, options));
  }
  return measured;
}

function measureSide(
  { server, requests }: QuestionSide,
  load: Omit<RequestLoad, 'requests'>,
  options: Pick<QuestionOptions, 'load' | 'database'>,
): Promise<RequestRun> {
  return measureRequests({ ...options, server }, { ...load, requests });
}
