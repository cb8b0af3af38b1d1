// Measures requests for flag definitions.

import { eventually } from '@millrace/testing';
import type { Bench, Worker } from '../harness/bench.ts';
import type { MeasuredProcess } from '../harness/measured-process.ts';
import { measureRequests } from '../load/measure-requests.ts';
import { buildDefinitionRequest } from './flag-requests.ts';
import type { NamedRun } from './flags-report.ts';
import { addFlagEnvironments, createMixedFlags, type FlagEnvironment } from './mixed-flags.ts';

export interface FlagsRun {
  pairs: number;
  seconds: number;
  bench: Bench;
  server: MeasuredProcess;
  worker: Worker;
}

/**
 * Requests per second, by response status. The loop is open to limit the number of requests, because an environment may
 * send only 600 requests per minute.
 */
const perSecond = { 304: 3000, 200: 1500 } as const;
const runMs = 1000;
const minuteLimit = 600;

/**
 * Measures requests for 500 flag definitions, from clients that already have them (304) and clients that do not (200).
 */
export async function measureDefinitions(run: FlagsRun): Promise<NamedRun[]> {
  const { pairs, bench, server } = run;
  // Use so many environments that each stays below its limit even if all runs are in the same minute.
  const requestCount = (pairs + 1) * (perSecond[304] + perSecond[200]) * (runMs / 1000);
  const count = Math.ceil((requestCount / minuteLimit) * 1.2);
  const environments = await addFlagEnvironments(bench.database, count, createMixedFlags(500));
  const etags: string[] = [];
  for (const environment of environments) {
    // On a busy machine, reading the definitions for the first time can exceed the time limit of a request.
    etags.push(await eventually(() => fetchEtag(server.port, environment), { what: 'The flag definitions' }));
  }
  const requests = {
    304: environments.map((keys, index) => buildDefinitionRequest(keys, etags[index] ?? '')),
    200: environments.map((keys) => buildDefinitionRequest(keys, null)),
  };
  const runs: NamedRun[] = [];
  // The first run is a warm-up and is not reported.
  for (let pair = 0; pair <= pairs; pair++) {
    for (const status of [304, 200] as const) {
      if (pair > 0) bench.print(`definitions, ${status}, run ${pair} of ${pairs}`);
      const requestsPerSecond = perSecond[status];
      const job = { requests: requests[status], status, connections: 32, requestsPerSecond, durationMs: runMs };
      const measured = await measureRequests(run, job);
      if (pair > 0) runs.push({ name: `definitions of 500 flags, ${status}`, ...measured });
    }
  }
  return runs;
}

async function fetchEtag(port: number, keys: FlagEnvironment): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/flags/definitions?token=${keys.projectApiKey}`, {
    headers: { authorization: `Bearer ${keys.secretKey}`, 'accept-encoding': 'gzip' },
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`The definitions request returned ${response.status}.`);
  return response.headers.get('etag') ?? '';
}
