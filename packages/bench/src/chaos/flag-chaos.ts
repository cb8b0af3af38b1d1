import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaultProxy, type FaultProxy } from '@millrace/testing';
import { percentile, readable, textTable } from '../report/report.ts';
import { type ChaosServer, type ChaosSystem, startChaosSystem } from './chaos-system.ts';
import { startClientLoad } from './client-load.ts';
import {
  ageOf,
  createFlagProject,
  type FlagAnswer,
  type FlagLoad,
  type FlagProject,
  type FlagVerdict,
  startFlagLoad,
} from './flag-load.ts';
import { awaitStored } from './state-check.ts';

export interface FlagChaosOptions {
  /** Length of one phase. */
  seconds: number;
  /** Names of phases; null for all. */
  only: string[] | null;
}

interface PhaseResult extends Record<FlagVerdict, number> {
  name: string;
  asked: number;
  /** Told something that had not been true any more for longer than is promised. */
  stale: number;
  oldestMs: number;
  p99Ms: number;
  slowestMs: number;
  /** Answers that took longer than is promised. */
  slow: number;
  /** From the end of the fault until every asker had a right answer again. */
  recoveryMs: number;
  acknowledged: number;
  /** Events that were not taken the first time. */
  eventsRefused: number;
  /** Events acknowledged and not stored. */
  lost: number;
  /** A gateway that knows nothing yet may refuse. */
  mayRefuse: boolean;
  machineLoad: number;
}

const mostAgeMs = 1000;
const slowMs = 500;
const calmMs = 2000;
const recoveryPatienceMs = 30_000;

/**
 * Changes flags and breaks what they rest on while two gateways are asked for them, beside events.
 * @returns true when every answer was right, or said what it could not say, in time, and no event was lost.
 */
export async function chaosFlags(options: FlagChaosOptions, print: (line: string) => void): Promise<boolean> {
  print('starting PostgreSQL, Kafka, Redis and the services');
  const system = await startChaosSystem();
  const closers: (() => Promise<unknown>)[] = [system.stop];
  const results: PhaseResult[] = [];
  try {
    const { hostname, port } = new URL(system.postgres.address);
    const proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
    closers.push(proxy.stop);
    const proxied = Object.assign(new URL(system.postgres.address), { hostname: proxy.host, port: String(proxy.port) });
    const settings = { DATABASE_URL: proxied.toString() };
    const gateways = await Promise.all([system.startGateway(0, settings), system.startGateway(0, settings)]);
    await system.startConsumer();
    const ports = gateways.map((gateway) => gateway.port);
    const project = await createFlagProject(system, ports[0] ?? 0);
    const phases = flagPhases(system, project, proxy).filter(({ name }) => options.only?.includes(name) ?? true);
    for (const phase of phases) {
      print(`${phase.name}: ${options.seconds} s`);
      results.push(await runPhase(phase, { system, project, ports, phaseMs: options.seconds * 1000 }));
    }
  } finally {
    print('stopping');
    for (const close of closers.reverse()) await close();
  }
  print('');
  print(report(results));
  return results.length > 0 && results.every(isWell);
}

interface Running {
  system: ChaosSystem;
  project: FlagProject;
  ports: readonly number[];
  phaseMs: number;
}

async function runPhase(phase: FlagPhase, { system, project, ports, phaseMs }: Running): Promise<PhaseResult> {
  const { projectApiKey } = system.tenant;
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const events = startClientLoad(urls, { projectApiKey, name: phase.name });
  await sleep(calmMs);
  const asked = phase.asksNewGateway === true ? [await startWithoutPostgres(system)] : ports;
  const load = startFlagLoad(asked, projectApiKey);
  if (phase.asksNewGateway !== true) await recovery(load);
  await phase.run(phaseMs);
  const recoveryMs = await recovery(load);
  await sleep(calmMs);
  await Promise.all([load.stop(), events.stop()]);
  const stored = await awaitStored(system.database, events.acknowledged);
  return {
    name: phase.name,
    ...judge(load.answers, project),
    recoveryMs,
    acknowledged: events.acknowledged.size,
    eventsRefused: events.refused,
    lost: [...events.acknowledged].filter((uuid) => !stored.has(uuid)).length,
    mayRefuse: phase.asksNewGateway === true,
    machineLoad: loadavg()[0] ?? 0,
  };
}

async function startWithoutPostgres(system: ChaosSystem): Promise<number> {
  await system.postgres.kill();
  return (await system.startGateway(0)).port;
}

/** How long it takes from now until every asker has asked again and been answered right. */
async function recovery(load: FlagLoad): Promise<number> {
  const from = performance.now();
  while (load.lastRightAt.some((at) => at < from)) {
    if (performance.now() - from > recoveryPatienceMs) return Number.POSITIVE_INFINITY;
    await sleep(20);
  }
  return performance.now() - from;
}

function judge(answers: readonly FlagAnswer[], { history }: FlagProject) {
  const times = answers.map(({ askedAt, answeredAt }) => answeredAt - askedAt);
  const ages = answers.filter(({ status }) => status === 200).map((answer) => ageOf(answer, history));
  const count = (wanted: FlagVerdict) => answers.filter(({ verdict }) => verdict === wanted).length;
  return {
    ...{ asked: answers.length, right: count('right'), failed: count('failed'), refused: count('refused') },
    ...{ empty: count('empty'), wrong: count('wrong') + answers.filter(isUnclearRefusal).length },
    stale: ages.filter((age) => age > mostAgeMs).length,
    oldestMs: ages.reduce((oldest, age) => Math.max(oldest, age), 0),
    p99Ms: percentile(times, 0.99),
    slowestMs: times.reduce((slowest, time) => Math.max(slowest, time), 0),
    slow: times.filter((time) => time > slowMs).length,
  };
}

/** Who cannot say which flags there are says so: 503. */
function isUnclearRefusal({ verdict, status }: FlagAnswer): boolean {
  return verdict === 'refused' && status !== 503;
}

function isWell({ mayRefuse, recoveryMs, ...result }: PhaseResult): boolean {
  const faults = result.wrong + result.empty + result.stale + result.slow + result.lost + result.eventsRefused;
  return faults === 0 && (mayRefuse || result.refused === 0) && Number.isFinite(recoveryMs);
}

function report(results: readonly PhaseResult[]): string {
  const counts = ['asked', 'right', 'failed', 'refused', 'empty', 'wrong', 'stale'] as const;
  const rows = results.map((result) => [
    result.name,
    ...counts.map((field) => readable(result[field])),
    ...[result.oldestMs, result.p99Ms, result.slowestMs].map((ms) => ms.toFixed(0)),
    readable(result.slow),
    (result.recoveryMs / 1000).toFixed(2),
    ...[result.acknowledged, result.eventsRefused, result.lost].map(readable),
    result.machineLoad.toFixed(1),
  ]);
  const times = ['oldest ms', 'p99 ms', 'slowest ms', `over ${slowMs} ms`, 'recovered in s'];
  return [
    textTable([['phase', ...counts, ...times, 'events acknowledged', 'refused', 'lost', 'load'], ...rows]),
    `Failed: flags that need stored data are marked as failed, all others are right. Stale: outdated for more than ${mostAgeMs} ms when requested. Refused: a gateway that has not loaded the flags yet returns 503.`,
  ].join('\n');
}

/** What continues while flags are asked for. */
interface FlagPhase {
  name: string;
  /** Whether a gateway that has just been started is asked, one that knows nothing yet. */
  asksNewGateway?: boolean;
  /** Resolves when everything is whole again. */
  run(phaseMs: number): Promise<void>;
}

const toggles = 100;
const longestFaultMs = 12_000;
const cutEveryMs = 2000;

/** @param postgresProxy between the gateways and PostgreSQL. */
function flagPhases(system: ChaosSystem, project: FlagProject, postgresProxy: FaultProxy): FlagPhase[] {
  async function toggleAll(phaseMs: number): Promise<void> {
    const from = performance.now();
    for (let number = 1; number <= toggles; number += 1) {
      await project.toggle();
      await sleep(Math.max(0, from + (number * phaseMs) / toggles - performance.now()));
    }
  }

  return [
    { name: 'toggles', run: toggleAll },
    {
      name: 'toggles-unheard',
      async run(phaseMs) {
        let isRunning = true;
        const cutting = (async () => {
          while (isRunning) {
            await cutListeners(system);
            await sleep(cutEveryMs);
          }
        })();
        await toggleAll(phaseMs);
        isRunning = false;
        await cutting;
      },
    },
    { name: 'postgres-kill', run: (phaseMs) => killed(system.postgres, phaseMs) },
    {
      name: 'postgres-black-hole',
      async run(phaseMs) {
        postgresProxy.blackHole();
        await sleep(Math.min(longestFaultMs, phaseMs));
        await postgresProxy.pass();
      },
    },
    { name: 'redis-kill', run: (phaseMs) => killed(system.redis, phaseMs) },
    {
      name: 'start-without-postgres',
      asksNewGateway: true,
      // It was away before the gateway was started.
      async run(phaseMs) {
        await sleep(Math.min(longestFaultMs, phaseMs));
        await system.postgres.restart();
      },
    },
  ];
}

/** Ends the connections over which gateways hear of changes. */
async function cutListeners({ database }: ChaosSystem): Promise<void> {
  await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen %'");
}

async function killed(server: ChaosServer, phaseMs: number): Promise<void> {
  await server.kill();
  await sleep(Math.min(longestFaultMs, phaseMs));
  await server.restart();
}
