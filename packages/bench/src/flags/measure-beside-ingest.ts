import type { LoadAnswer, LoadMessage } from '../load/load-job.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { BesideIngest } from '../report/flags-measurement.ts';
import { sendLoad } from './measure-requests.ts';

interface BesideOptions {
  pairs: number;
  seconds: number;
  gateway: MeasuredProcess;
  /** Two generators: of events, and of questions. */
  loads: readonly [MeasuredProcess, MeasuredProcess];
  projectApiKey: string;
  questions: string[];
  print(line: string): void;
}

/** What keeps one gateway busy all the time. */
const ingestConnections = 64;
const questionsPerSecond = 300;

/** How long events wait while the gateway takes as many as it can, alone and with questions for flags beside, turn about. */
export async function measureBesideIngest(options: BesideOptions): Promise<BesideIngest> {
  const { pairs, seconds, gateway, loads, questions, print } = options;
  const measured: BesideIngest = { alone: [], beside: [], questionsPerSecond, otherStatuses: {} };
  await ingest(options, 2);
  for (let pair = 1; pair <= pairs; pair++) {
    print(`events alone and beside ${questionsPerSecond} questions/s, pair ${pair} of ${pairs}`);
    measured.alone.push(await ingest(options, seconds));
    const asking = sendLoad(loads[1], {
      ...{ port: gateway.port, requests: questions, connections: 16 },
      ...{ requestsPerSecond: questionsPerSecond, durationMs: seconds * 1000 },
    });
    measured.beside.push(await ingest(options, seconds));
    for (const [status, count] of Object.entries((await asking).otherStatuses)) {
      measured.otherStatuses[status] = (measured.otherStatuses[status] ?? 0) + count;
    }
  }
  return measured;
}

/** @returns the 99th percentile of a closed loop, in ms. */
async function ingest({ gateway, loads, projectApiKey }: BesideOptions, seconds: number): Promise<number> {
  const message: LoadMessage = {
    ...{ type: 'load', port: gateway.port, workload: 'single-2kb', projectApiKey },
    ...{ connections: ingestConnections, requestsPerSecond: null, durationMs: seconds * 1000 },
  };
  const answer = await loads[0].ask<LoadAnswer>(message, 'load-result', 'load-failed');
  if (answer.type === 'load-failed') throw new Error(`The load generator failed: ${answer.message}`);
  return answer.result.p99Ms;
}
