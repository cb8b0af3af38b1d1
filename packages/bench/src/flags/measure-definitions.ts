import { eventually } from '@millrace/testing';
import { measureRequests } from '../load/measure-load.ts';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { DefinitionMeasurement, LimitedMemory, MemoryMeasurement } from '../report/flags-report.ts';
import type { BenchDatabase } from '../topic/bench-project.ts';
import { type Asker, askFlags, definitionRequest } from './measure-questions.ts';
import type { FlagEnvironment } from './mixed-flags.ts';

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
  if (response.status !== 200) throw new Error(`The definitions request returned ${response.status}.`);
  return response;
}

/** How many ask at a time. */
const lanes = 8;

interface MemoryOptions {
  environments: readonly FlagEnvironment[];
  asker: Asker;
  /** For the definitions. */
  limitMb: number;
  startGateway(settings: Record<string, string>): Promise<MeasuredProcess>;
  print(line: string): void;
}

/** What the memory of a gateway that was just started holds after each of many projects has asked for its flags once. */
export async function measureMemory(options: MemoryOptions): Promise<LimitedMemory> {
  const { limitMb, startGateway, print } = options;
  print(`memory, FLAG_DEFINITIONS_MEMORY_MB=${limitMb}`);
  const gateway = await startGateway({ FLAG_DEFINITIONS_MEMORY_MB: String(limitMb) });
  try {
    return { ...(await askEverybody(gateway, options)), limitBytes: limitMb * 2 ** 20 };
  } finally {
    await gateway.stop();
  }
}

async function askEverybody(
  gateway: MeasuredProcess,
  { environments, asker }: MemoryOptions,
): Promise<MemoryMeasurement> {
  const [often, ...others] = environments;
  if (often === undefined) throw new Error('No environment is available for the requests.');
  const askAll = async (asked: readonly FlagEnvironment[]) => {
    for (const { projectApiKey } of asked) {
      // Nothing is timed here, and a machine that does much else may refuse a question.
      await eventually(() => askFlags(gateway.port, projectApiKey, asker), { what: 'A flag request' });
    }
  };
  const loaded = () => readMetric(gateway.port, 'millrace_flag_definitions_asked_total', ['definitions', 'loaded']);

  await askAll(Array.from({ length: 300 }, () => often));
  const before = await gateway.memory();
  const parts = Array.from({ length: lanes }, (_, lane) => others.filter((_one, index) => index % lanes === lane));
  await Promise.all(
    parts.map(async (part) => {
      // One project continues asking: it is never the one that was not used for longest.
      for (const one of part) await askAll([often, one]);
    }),
  );
  const after = await gateway.memory();
  const loadedBefore = await loaded();
  await askAll([often, ...others.slice(-lanes)]);
  const loadedNewest = (await loaded()) - loadedBefore;
  await askAll(others.slice(0, lanes));
  return {
    projects: environments.length,
    keptBytes: after.keptBytes - before.keptBytes,
    rssBytes: after.rssBytes - before.rssBytes,
    countedBytes: await readMetric(gateway.port, 'millrace_flag_definitions_bytes', ['definitions']),
    reloadedNewest: loadedNewest,
    reloadedOldest: (await loaded()) - loadedBefore - loadedNewest,
    askedAgain: lanes,
  };
}

/** One figure of a service's `/metrics`, by values its labels have; 0 when it has not been counted yet. */
async function readMetric(port: number, name: string, labelValues: readonly string[]): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith(`${name}{`));
  const found = lines.find((line) => labelValues.every((value) => line.includes(`="${value}"`)));
  return found === undefined ? 0 : Number(found.slice(found.lastIndexOf(' ') + 1));
}
