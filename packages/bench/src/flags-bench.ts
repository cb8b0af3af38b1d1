// Benchmark of feature flags: speed of evaluation and requests, and memory.

import type { EvaluatorSide, measureEvaluationCpu } from './flags/evaluators.ts';
import { buildFlagRequestById, buildFlagRequestWithProperties, createClients } from './flags/flag-requests.ts';
import { type EventsRun, formatFlagsReport, type NamedRun } from './flags/flags-report.ts';
import { type FlagsRun, measureDefinitions } from './flags/measure-definitions.ts';
import { measureMemory } from './flags/measure-memory.ts';
import { addFlagEnvironments, addPersons, createMixedFlags } from './flags/mixed-flags.ts';
import { type Bench, programs, withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';
import { median } from './harness/report.ts';
import { type LoadJob, type measureLoadLatency, measureRequests } from './load/measure-requests.ts';
import { buildRequests } from './workload/gateway-workloads.ts';

type FlagsBenchOptions = Pick<FlagsRun, 'pairs' | 'seconds'>;

const clients = createClients(1000);
const warmUpMs = 2000;
const connections = 64;

export async function benchFlags(options: FlagsBenchOptions, print: Print): Promise<void> {
  await withBench(print, async (bench) => {
    const evaluations = await measureEvaluators(options, bench);
    const [environment] = await addFlagEnvironments(bench.database, 1, createMixedFlags(50));
    if (environment === undefined) throw new Error('No environment was added.');
    const { environmentId, projectApiKey } = environment;
    await addPersons(bench.database, environmentId, clients);
    const run = { ...options, bench, server: await bench.start(programs.gateway), worker: await bench.startWorker() };
    const withProperties = clients.map((client) => buildFlagRequestWithProperties(projectApiKey, client));
    const byId = clients.map((client) => buildFlagRequestById(projectApiKey, client));
    const requests = [
      ...(await measureLoops('50 flags', withProperties, run)),
      ...(await measureLoops('50 flags, person read', byId, run)),
      ...(await measureDefinitions(run)),
    ];
    const events = await measureEvents(projectApiKey, withProperties, run);
    await run.server.stop();
    return formatFlagsReport({ evaluations, requests, events, memory: await measureMemory(bench, clients) });
  });
}

/** The targets apply to 50 and 1,000 flags. posthog-node is measured only with 50, a typical number. */
const evaluators: [side: EvaluatorSide, flags: number][] = [
  ['millrace', 50],
  ['millrace', 1000],
  ['posthog-node', 50],
];

/** Measures both evaluators alternately, with a new process for each run. */
async function measureEvaluators({ pairs, seconds }: FlagsBenchOptions, bench: Bench) {
  const measured: { name: string; cpuMicros: number }[] = [];
  for (let pair = 1; pair <= pairs; pair++) {
    bench.print(`evaluators, pair ${pair} of ${pairs}`);
    for (const [side, flags] of evaluators) {
      const worker = await bench.startWorker();
      const cpuMicros = await worker.perform<typeof measureEvaluationCpu>(
        'measureEvaluationCpu',
        seconds * 250,
        side,
        flags,
      );
      measured.push({ name: `${side}, ${flags} flags`, cpuMicros });
      await worker.stop();
    }
  }
  return measured;
}

/**
 * First runs a closed loop, which shows how many requests the gateway can handle, and their CPU time. Then runs an open
 * loop at half of that rate.
 */
async function measureLoops(name: string, requests: string[], run: FlagsRun): Promise<NamedRun[]> {
  const job = { requests, connections, requestsPerSecond: null, durationMs: run.seconds * 1000 };
  await measureRequests(run, { ...job, durationMs: warmUpMs });
  const repeat = async (loop: string, more: Partial<LoadJob>) => {
    const runs: NamedRun[] = [];
    for (let pair = 1; pair <= run.pairs; pair++) {
      run.bench.print(`${name}, ${loop}, run ${pair} of ${run.pairs}`);
      runs.push({ name: `${name}, ${loop}`, ...(await measureRequests(run, { ...job, ...more })) });
    }
    return runs;
  };
  const closed = await repeat('closed loop', {});
  const requestsPerSecond = median(closed.map((one) => one.requestsPerSecond)) / 2;
  return [...closed, ...(await repeat('half load', { requestsPerSecond }))];
}

const flagRequestsPerSecond = 300;

/** Measures the latency of sending events in a closed loop. Runs with and without flag requests alternate. */
async function measureEvents(projectApiKey: string, flagRequests: string[], run: FlagsRun): Promise<EventsRun[]> {
  const { pairs, server, worker, bench } = run;
  const flagWorker = await bench.startWorker();
  const common = { port: server.port, durationMs: run.seconds * 1000 };
  const { requests } = buildRequests('single-2kb', projectApiKey);
  const events = { ...common, requests, connections: 64, requestsPerSecond: null };
  const flags = { ...common, requests: flagRequests, connections: 16, requestsPerSecond: flagRequestsPerSecond };
  const runs: EventsRun[] = [];
  await worker.perform<typeof measureLoadLatency>('measureLoadLatency', { ...events, durationMs: warmUpMs });
  for (let pair = 1; pair <= pairs; pair++) {
    bench.print(`events alone and with ${flagRequestsPerSecond} flag requests/s, pair ${pair} of ${pairs}`);
    runs.push({ name: 'alone', ...(await worker.perform<typeof measureLoadLatency>('measureLoadLatency', events)) });
    const both = [
      worker.perform<typeof measureLoadLatency>('measureLoadLatency', events),
      flagWorker.perform<typeof measureLoadLatency>('measureLoadLatency', flags),
    ] as const;
    const [{ p99Ms }, { otherStatuses }] = await Promise.all(both);
    runs.push({ name: 'with flag requests', p99Ms, otherStatuses });
  }
  return runs;
}
