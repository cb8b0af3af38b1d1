import { setTimeout as sleep } from 'node:timers/promises';
import { readable, textTable } from '../report/text-table.ts';
import { startChaosSystem } from './chaos-system.ts';
import { type ClientLoad, recovery, startClientLoad } from './client-load.ts';
import { type GatewayFault, gatewayFaults } from './gateway-faults.ts';
import { isWell, judgeLoad, type LoadVerdict } from './judge-load.ts';

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
