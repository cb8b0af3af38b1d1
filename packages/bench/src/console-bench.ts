import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compilePrograms } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { type ConsoleSystem, startConsoleSystem } from './console/console-system.ts';
import { measureEvents } from './console/measure-events.ts';
import { type BuiltSite, fetchUnleash, measureFirstLoad } from './console/measure-first-load.ts';
import { measureCurl, measureFlood, measureInteractions, measureUsable } from './console/measure-live.ts';
import { measureWatchers } from './console/measure-watchers.ts';
import { slowedBy } from './console/open-page.ts';
import { startFlood } from './console/start-flood.ts';
import { type ConsoleMeasurement, consoleReport } from './report/console-report.ts';
import { processorFacts, serverFacts } from './report/report.ts';

export const consoleParts = ['load', 'live', 'flood', 'watchers', 'events'] as const;
export type ConsolePart = (typeof consoleParts)[number];

export interface ConsoleBenchOptions {
  parts: readonly ConsolePart[];
  /** Openings of a page, of each kind. */
  visits: number;
  /** How long the floods and the watchers last. */
  seconds: number;
  /** Busy projects, and streams of each. */
  projects: number;
  watchers: number;
  /** Events a second of all watched projects together. */
  rate: number;
  /** Stored events, for the page Events. */
  events: number;
}

/** Events a second on one open page. */
const floodRate = 1000;

/** The console in a real browser over the running system, beside Unleash's; and what its live events cost the API. */
export async function benchConsole(options: ConsoleBenchOptions, print: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-bench-console-'));
  const built = join(directory, 'built');
  const does = (part: ConsolePart) => options.parts.includes(part);
  for (const line of processorFacts()) print(line);
  print('building the console, starting gateway, consumer and API');
  const system = await startConsoleSystem(built, options.projects + 1);
  let browser: Browser | undefined;
  try {
    for (const line of await serverFacts(system.database)) print(line);
    browser = await launchChromium();
    print(`browser     Chromium ${browser.version()}; pages marked as slowed run on a CPU slowed ${slowedBy} times`);
    const measured: ConsoleMeasurement = { sizes: system.sizes };
    if (does('load')) measured.loads = await measureLoads(browser, { directory, built }, options, print);
    if (does('live')) Object.assign(measured, await measureLive(browser, system, options, print));
    if (does('flood')) measured.floods = await measureFloods(browser, system, options, print);
    if (does('watchers')) measured.watching = await measureWatching(system, options, print);
    if (does('events')) {
      print(`filling a project with ${options.events} events`);
      const { files, remove } = await compilePrograms(['services/management-api/src/main.ts']);
      try {
        const { events, visits } = options;
        measured.events = await measureEvents(browser, { apiFile: files[0] ?? '', directory: built, events, visits });
      } finally {
        await remove();
      }
    }
    print('');
    print(consoleReport(measured));
  } finally {
    await browser?.close();
    await system.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

type Print = (line: string) => void;

async function measureLoads(
  browser: Browser,
  { directory, built }: { directory: string; built: string },
  { visits }: ConsoleBenchOptions,
  print: Print,
) {
  print('fetching the pages of Unleash');
  const sites: BuiltSite[] = [{ name: 'millrace', directory: built, path: '/console/' }];
  await fetchUnleash(directory).then(
    (site) => sites.push(site),
    (error: Error) => print(`without Unleash: ${error.message.slice(0, 200)}`),
  );
  print(`loading each for the first time, ${visits} times`);
  const loads: ConsoleMeasurement['loads'] = [];
  for (let visit = 0; visit < visits; visit += 1) {
    for (const site of sites) loads.push(await measureFirstLoad(browser, site));
  }
  return loads;
}

async function measureLive(browser: Browser, system: ConsoleSystem, { visits }: ConsoleBenchOptions, print: Print) {
  print(`opening Live ${visits} times`);
  const usable = await measureUsable(browser, system, visits);
  print('using Live');
  const interactionMs = await measureInteractions(browser, system);
  print('sending with curl');
  const curlMs = await measureCurl(browser, system, Math.max(10, visits));
  return { usable, interactionMs, curlMs };
}

async function measureFloods(browser: Browser, system: ConsoleSystem, { seconds }: ConsoleBenchOptions, print: Print) {
  print(`${floodRate} events/s on an open page for ${seconds} s, through the system`);
  const through = await measureFlood(browser, system, { seconds, eventsPerSecond: floodRate });
  print(`${floodRate} messages/s to the page for ${seconds} s, without throttling`);
  const flood = await startFlood(system.api.port, floodRate);
  try {
    const unbridled = await measureFlood(browser, system, { seconds, eventsPerSecond: 0, port: flood.port });
    return [
      { name: 'through the system', ...through },
      { name: 'without throttling', ...unbridled },
    ];
  } finally {
    await flood.stop();
  }
}

async function measureWatching(system: ConsoleSystem, options: ConsoleBenchOptions, print: Print) {
  const { watchers, projects, rate, seconds } = options;
  const runs = [];
  for (const each of [0, watchers]) {
    print(`${rate} events/s from ${projects} projects with ${each} watchers each, for ${seconds} s`);
    runs.push(await measureWatchers(system, { watchers: each, eventsPerSecond: rate, seconds }));
  }
  return runs;
}
