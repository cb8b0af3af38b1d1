import { bundleLibrary } from '@millrace/browser/bundle-library';
import { judgeVisits, type VisitsVerdict } from '@millrace/testing/browser-visits/judge-visits';
import { type ShopVisits, visitShop } from '@millrace/testing/browser-visits/visit-shop';
import { readable, textTable } from '../report/report.ts';
import { type ChaosSystem, startChaosSystem } from './chaos-system.ts';
import { awaitStored } from './state-check.ts';

export interface BrowserChaosOptions {
  pages: number;
  /** At the same time. */
  visitors: number;
  seed: number;
}

interface Round extends VisitsVerdict {
  visits: ShopVisits;
  seconds: number;
}

/** Each with a browser and visitors of its own, who all stay until nothing waits any more. */
const pagesOfRound = 1000;

/**
 * Loads pages of a site in every way a browser knows, while the way to the gateway fails in every way it can.
 * @returns true when every event whose `capture` has returned is stored once, or told as dropped.
 */
export async function chaosBrowser(options: BrowserChaosOptions, print: (line: string) => void): Promise<boolean> {
  print(`starting PostgreSQL, Kafka, Redis and the services (seed ${options.seed})`);
  const system = await startChaosSystem();
  const rounds: Round[] = [];
  try {
    const gateway = await system.startGateway(0);
    await system.startConsumer();
    const { code: library } = await bundleLibrary('index.js');
    for (let left = options.pages; left > 0; left -= pagesOfRound) {
      const pages = Math.min(left, pagesOfRound);
      const round = { ...options, pages, seed: options.seed + rounds.length };
      rounds.push(await runRound(system, { ...round, library, gatewayPort: gateway.port }));
      print(`\nafter ${rounds.length} rounds:\n${report(rounds)}`);
    }
  } finally {
    print('stopping');
    await system.stop();
  }
  return rounds.every(({ lost, doubled }) => lost === 0 && doubled === 0);
}

async function runRound(
  { tenant, database }: ChaosSystem,
  options: BrowserChaosOptions & { library: string; gatewayPort: number },
): Promise<Round> {
  const from = performance.now();
  const visits = await visitShop({ ...options, projectApiKey: tenant.projectApiKey });
  const seconds = (performance.now() - from) / 1000;
  await awaitStored(database, new Set(visits.captured.keys()));
  return { visits, seconds, ...(await judgeVisits(visits, database)) };
}

function report(rounds: readonly Round[]): string {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const total = (of: (visits: ShopVisits) => Record<string, number>): [string, number][] =>
    Object.keys(of(rounds[0]?.visits as ShopVisits)).map((key) => [key, sum(({ visits }) => of(visits)[key] ?? 0)]);
  const rows: [string, number][] = [
    ['pages', sum(({ visits }) => visits.pages)],
    ...total(({ entered }) => entered).map(([way, count]): [string, number] => [`  by ${way}`, count]),
    ['visits interrupted by a crash or an outage', sum(({ visits }) => visits.interrupted)],
    ['outages of the host', sum(({ visits }) => visits.outages)],
    ...total(({ requests }) => requests).map(([mishap, count]): [string, number] => [`requests: ${mishap}`, count]),
    ['events captured', sum(({ visits }) => visits.captured.size)],
    [
      '  sent, including repeats',
      sum(({ visits }) => [...visits.sent.values()].reduce((times, count) => times + count, 0)),
    ],
    ['stored', sum(({ stored }) => stored)],
    ['dropped and reported', sum(({ dropped }) => dropped)],
    ['lost', sum(({ lost }) => lost)],
    ['doubled', sum(({ doubled }) => doubled)],
    ['seconds', sum(({ seconds }) => seconds)],
  ];
  return textTable([['browser', ''], ...rows.map(([name, count]) => [name, readable(count)])]);
}
