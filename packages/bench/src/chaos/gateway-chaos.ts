import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '@millrace/testing';
import type { Pool } from 'pg';
import { readable, textTable } from '../report/report.ts';
import { type ChaosServer, type ChaosSystem, startChaosSystem } from './chaos-system.ts';
import { type ClientLoad, recovery, startClientLoad } from './client-load.ts';
import { awaitStored, misorderedEvents } from './state-check.ts';

export interface GatewayChaosOptions {
  /** Length of one phase. */
  seconds: number;
  /** Names of phases; null for all. */
  only: string[] | null;
  hasFallback: boolean;
}

interface PhaseResult extends LoadVerdict {
  name: string;
  strikes: number;
  sent: number;
  /** From the end of a fault until every client had a 200 again, the longest, milliseconds. */
  longestRecoveryMs: number;
}

const warmUpMs = 3000;
/** How long a fault lasts: long enough for every time limit to run out. */
const longestFaultMs = 15_000;

/** Breaks everything around two gateways, and them, one after the other under load. @returns true when nothing was lost, doubled or misordered. */
export async function chaosGateway(options: GatewayChaosOptions, print: (line: string) => void): Promise<boolean> {
  print('starting PostgreSQL, Kafka, Redis and the services');
  const fallback = options.hasFallback
    ? { EVENT_LOG_FALLBACK: 'postgres', EVENT_LOG_FALLBACK_AFTER_MS: '2000' }
    : undefined;
  const system = await startChaosSystem({ settings: fallback });
  const results: PhaseResult[] = [];
  try {
    const gateways = await Promise.all([system.startGateway(0), system.startGateway(0)]);
    await system.startConsumer();
    const urls = gateways.map(({ port }) => `http://127.0.0.1:${port}`);
    const faults = gatewayFaults(system, gateways, {});
    for (const fault of faults.filter(({ name }) => options.only?.includes(name) ?? true)) {
      print(`${fault.name}: ${options.seconds} s`);
      const load = startClientLoad(urls, { projectApiKey: system.tenant.projectApiKey, name: fault.name });
      const struck = await runPhase(fault, load, options.seconds * 1000);
      await load.stop();
      const verdict = await judgeLoad(load, system.database, { name: fault.name });
      results.push({ name: fault.name, sent: load.sent.size, ...struck, ...verdict });
    }
  } finally {
    print('stopping');
    await system.stop();
  }
  print('');
  print(report(results));
  return results.length > 0 && results.every(isWell);
}

/** Strikes again and again until the time is over; at least once, and never before everybody has recovered. */
async function runPhase(fault: GatewayFault, load: ClientLoad, phaseMs: number) {
  const endsAt = performance.now() + phaseMs;
  const faultMs = Math.min(longestFaultMs, phaseMs / 3);
  let strikes = 0;
  let longestRecoveryMs = 0;
  do {
    await sleep(warmUpMs);
    await fault.strike(faultMs);
    strikes += 1;
    longestRecoveryMs = Math.max(longestRecoveryMs, await recovery(load));
  } while (performance.now() + faultMs < endsAt);
  return { strikes, longestRecoveryMs };
}

function report(results: readonly PhaseResult[]): string {
  const headings = [
    'phase',
    'faults',
    'sent',
    'acknowledged',
    'refused',
    'stored',
    'lost',
    'doubled',
    'misordered',
    'recovered in s',
  ];
  const count = (results: readonly PhaseResult[], name: string) => [
    name,
    ...(['strikes', 'sent', 'acknowledged', 'refused', 'stored', 'lost', 'doubled', 'misordered'] as const).map(
      (field) => readable(results.reduce((sum, result) => sum + result[field], 0)),
    ),
    (Math.max(...results.map(({ longestRecoveryMs }) => longestRecoveryMs)) / 1000).toFixed(2),
  ];
  return textTable([headings, ...results.map((result) => count([result], result.name)), count(results, 'all')]);
}

/** One way to break something. */
interface GatewayFault {
  name: string;
  /** Breaks it, waits for `ms`, repairs it; resolves when what was broken answers again. */
  strike(ms: number): Promise<void>;
}

/** @param gateways index is identity; one that was killed is replaced on its port. */
function gatewayFaults(
  system: ChaosSystem,
  gateways: ServiceProcess[],
  settings: Record<string, string>,
): GatewayFault[] {
  let round = 0;

  async function replaceOne(end: (gateway: ServiceProcess) => Promise<unknown>, ms: number): Promise<void> {
    const index = round++ % gateways.length;
    const gateway = gateways[index];
    if (gateway === undefined) return;
    await end(gateway);
    await sleep(ms / 4);
    gateways[index] = await system.startGateway(gateway.port, settings);
  }

  return [
    { name: 'broker-kill', strike: (ms) => killed(system.kafka, ms) },
    {
      name: 'broker-black-hole',
      async strike(ms) {
        system.kafka.freeze();
        await sleep(ms);
        system.kafka.thaw();
      },
    },
    { name: 'postgres-kill', strike: (ms) => killed(system.postgres, ms) },
    { name: 'redis-kill', strike: (ms) => killed(system.redis, ms) },
    { name: 'gateway-sigkill', strike: (ms) => replaceOne((gateway) => gateway.kill(), ms) },
    { name: 'gateway-sigterm', strike: (ms) => replaceOne((gateway) => gateway.stop(), ms) },
  ];
}

async function killed(server: ChaosServer, ms: number): Promise<void> {
  await server.kill();
  await sleep(ms);
  await server.restart();
}

/** What was acknowledged, compared with what is stored. */
export interface LoadVerdict {
  acknowledged: number;
  refused: number;
  /** Also of what was sent and not acknowledged. */
  stored: number;
  /** Acknowledged and not stored. */
  lost: number;
  /** Stored more than once. */
  doubled: number;
  /** Took effect before one of the same distinct id that had been acknowledged, or sent in the same request, before it. */
  misordered: number;
}

/** To be asked when the load has stopped. @param options as for `awaitStored`; `name` is the load's */
export async function judgeLoad(
  { sent, acknowledged, refused }: ClientLoad,
  database: Pool,
  { name, patienceMs }: { name: string; patienceMs?: number },
): Promise<LoadVerdict> {
  const stored = await awaitStored(database, acknowledged, { name: `${name}-`, patienceMs });
  const countOf = (uuids: ReadonlySet<string>, fits: (times: number) => boolean) =>
    [...uuids].filter((uuid) => fits(stored.get(uuid) ?? 0)).length;
  return {
    ...{ acknowledged: acknowledged.size, refused },
    stored: countOf(sent, (times) => times > 0),
    lost: countOf(acknowledged, (times) => times === 0),
    doubled: countOf(sent, (times) => times > 1),
    misordered: await misorderedEvents(database, name),
  };
}

export const isWell = ({ lost, doubled, misordered }: LoadVerdict): boolean => lost + doubled + misordered === 0;
