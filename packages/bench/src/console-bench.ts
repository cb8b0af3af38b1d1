// Benchmark of the console: how quickly pages load, and how much live events cost the API.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchSeparateChromium } from '@millrace/testing/launch-chromium';
import { type ConsoleMeasurement, formatConsoleReport } from './console/console-report.ts';
import { type ConsoleSystem, startConsoleSystem } from './console/console-system.ts';
import { measureEvents } from './console/measure-events.ts';
import { type BuiltSite, type FirstLoad, fetchUnleash, measureFirstLoad } from './console/measure-first-load.ts';
import {
  measureCurlDelay,
  measureInteractions,
  measureLivePageFrames,
  measureLivePageLoad,
} from './console/measure-live.ts';
import { measureWatchers } from './console/measure-watchers.ts';
import { cpuSlowdown } from './console/open-page.ts';
import { withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';

export const consoleParts = ['load', 'live', 'flood', 'watchers', 'events'];

export interface ConsoleBenchOptions {
  only: string[];
  visits: number;
  /** Duration in seconds of each measurement that sends many events per second. */
  seconds: number;
  /** Number of events to store before the Events page is measured. */
  events: number;
}

/** Number of events per second that arrive while a page is open. */
const floodRate = 1000;
const busyProjects = 20;
/** Number of open streams per busy project. */
const watchers = 50;

/**
 * Measures the running system's console in a browser, and compares it with Unleash's console. Also measures the API
 * while live streams are open.
 */
export async function benchConsole(options: ConsoleBenchOptions, print: Print): Promise<void> {
  await withBench(print, async (bench) => {
    const root = await mkdtemp(join(tmpdir(), 'millrace-bench-console-'));
    bench.onEnd(() => rm(root, { recursive: true, force: true }));
    const browser = await launchSeparateChromium();
    bench.onEnd(() => browser.close());
    print(`browser     Chromium ${browser.version()}; pages marked as slowed run on a CPU slowed ${cpuSlowdown} times`);
    print('building the console, starting gateway, consumer and API');
    const directory = join(root, 'built');
    const system = await startConsoleSystem(bench, { browser, directory, projectCount: busyProjects + 1 });
    const measured: ConsoleMeasurement = { sizes: system.sizes };
    const { only, visits, seconds, events } = options;
    if (only.includes('load')) measured.loads = await measureLoads(system, root, visits);
    if (only.includes('live')) {
      print(`opening Live ${visits} times`);
      const usable = await measureLivePageLoad(system, visits);
      print('using Live, and sending with curl');
      const interactionMs = await measureInteractions(system);
      measured.live = { usable, interactionMs, curlMs: await measureCurlDelay(system, visits) };
    }
    if (only.includes('flood')) {
      print(`${floodRate} events/s on an open page for ${seconds} s`);
      measured.flood = await measureLivePageFrames(system, seconds, floodRate);
    }
    if (only.includes('watchers')) {
      measured.watching = [await measureWatchers(system, 0, seconds), await measureWatchers(system, watchers, seconds)];
    }
    if (only.includes('events')) measured.events = await measureEvents(system, { events, visits });
    return formatConsoleReport(measured);
  });
}

async function measureLoads({ browser, bench, directory }: ConsoleSystem, root: string, visits: number) {
  bench.print('fetching the pages of Unleash');
  const sites: BuiltSite[] = [{ name: 'millrace', directory, path: '/console/' }];
  await fetchUnleash(root).then(
    (site) => sites.push(site),
    (error: Error) => bench.print(`without Unleash: ${error.message.slice(0, 200)}`),
  );
  bench.print(`loading each for the first time, ${visits} times`);
  const loads: FirstLoad[] = [];
  for (let visit = 0; visit < visits; visit += 1) {
    for (const site of sites) loads.push(await measureFirstLoad(browser, site));
  }
  return loads;
}
