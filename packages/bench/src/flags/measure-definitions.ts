import { eventually } from '@millrace/testing';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { DefinitionMeasurement } from '../report/flags-measurement.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import type { FlagEnvironment } from './add-flags.ts';
import { definitionRequest } from './flag-requests.ts';
import { measureRequests } from './measure-requests.ts';

interface DefinitionOptions {
  pairs: number;
  gateway: MeasuredProcess;
  load: MeasuredProcess;
  database: BenchDatabase;
  print(line: string): void;
}

/**
 * An environment may ask 600 times a minute, so many of them ask, and in an open loop: the number of requests is then
 * known before.
 */
const perSecond = { 304: 3000, 200: 1500 } as const;
const runMs = 1000;
const connections = 32;
/** So many environments stay below their limit, were all runs in the same minute. */
const minuteLimit = 600;

/** How many environments `measureDefinitions` needs. */
export function environmentsForDefinitions(pairs: number): number {
  const requests = (pairs + 1) * (perSecond[304] + perSecond[200]) * (runMs / 1000);
  return Math.ceil((requests / minuteLimit) * 1.2);
}

/** Definitions for who has them (304) and who has not (200). */
export async function measureDefinitions(
  environments: readonly FlagEnvironment[],
  { pairs, print, gateway, ...options }: DefinitionOptions,
): Promise<DefinitionMeasurement[]> {
  const etags: string[] = [];
  let bytes = 0;
  for (const environment of environments) {
    // Reading in the first ones may take a busy server longer than a caller has to wait.
    const response = await eventually(() => fetchDocument(gateway.port, environment), { what: 'A document' });
    etags.push(response.headers.get('etag') ?? '');
    bytes = Number(response.headers.get('content-length'));
    await response.arrayBuffer();
  }
  const kinds = ([304, 200] as const).map((status) => ({
    status,
    bytes: status === 200 ? bytes : 0,
    requests: environments.map((keys, index) => definitionRequest(keys, status === 304 ? (etags[index] ?? '') : null)),
    runs: [] as DefinitionMeasurement['runs'],
  }));
  // The first run is to warm up.
  for (let run = 0; run <= pairs; run++) {
    for (const { status, requests, runs } of kinds) {
      if (run > 0) print(`definitions, ${status}, run ${run} of ${pairs}`);
      const load = { requests, status, connections, requestsPerSecond: perSecond[status], durationMs: runMs };
      const measured = await measureRequests({ ...options, server: gateway }, load);
      if (run > 0) runs.push(measured);
    }
  }
  return kinds.map(({ status, bytes: size, runs }) => ({ status, bytes: size, runs }));
}

/** @throws Error when it is not answered with 200. */
async function fetchDocument(port: number, keys: FlagEnvironment): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/flags/definitions?token=${keys.projectApiKey}`, {
    headers: { authorization: `Bearer ${keys.secretKey}`, 'accept-encoding': 'gzip' },
  });
  if (response.status !== 200) throw new Error(`Definitions were answered with ${response.status}.`);
  return response;
}
