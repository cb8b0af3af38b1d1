// Measures how quickly the Live page shows events and responds to the user.

import { randomUUID } from 'node:crypto';
import { runProgram } from '@millrace/stack/run-program';
import type { Page } from 'playwright-core';
import type { measureLoadLatency } from '../load/measure-requests.ts';
import { buildBatchRequests, type ConsoleSystem, eventsPerBatch } from './console-system.ts';
import { cpuSlowdown, type PageTimings, readMainThreadMs, waitUntilDrawn, withTab } from './open-page.ts';

const rows = '.live-rows [role=option]';
const liveOf = ({ api, projects }: ConsoleSystem) =>
  `http://127.0.0.1:${api.port}/console/projects/${projects[0]?.id}/live`;

/** Sends events to the first project at a constant rate while `work` runs. */
async function whileSending<Result>(system: ConsoleSystem, perSecond: number, work: () => Promise<Result>) {
  let isOver = false;
  const requests = buildBatchRequests(system.projects[0], 40);
  const requestsPerSecond = perSecond / eventsPerBatch;
  const job = { port: system.gateway.port, requests, connections: 16, requestsPerSecond, durationMs: 2000 };
  const sending = (async () => {
    while (!isOver) await system.workers.events.perform<typeof measureLoadLatency>('measureLoadLatency', job);
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await sending;
  }
}

export async function measureLivePageLoad(system: ConsoleSystem, visits: number): Promise<PageTimings[]> {
  const { personalApiKey } = system.bench.database;
  return whileSending(system, 100, async () => {
    const drawn: PageTimings[] = [];
    for (let one = 0; one < visits; one += 1) {
      const open = { personalApiKey, slow: cpuSlowdown };
      drawn.push(await withTab(system.browser, open, (tab) => waitUntilDrawn(tab, liveOf(system), rows)));
    }
    return drawn;
  });
}

/** Measures the time from clicks and key presses to the next frame, while the CPU is throttled and events arrive. */
export async function measureInteractions(system: ConsoleSystem): Promise<number[]> {
  const { personalApiKey } = system.bench.database;
  return whileSending(system, 100, () =>
    withTab(system.browser, { personalApiKey, slow: cpuSlowdown }, async (tab) => {
      await waitUntilDrawn(tab, liveOf(system), rows);
      const count = await interact(tab.page);
      const measured = await tab.page.evaluate<number[]>('[...bench.inputMs.values()]');
      // The browser does not report interactions that take less than one frame (16 ms).
      return [...measured, ...Array.from({ length: Math.max(0, count - measured.length) }, () => 16)];
    }),
  );
}

/** Clicks and types on the page. Returns the number of interactions. */
async function interact(page: Page): Promise<number> {
  const { x = 0, y = 0 } = (await page.locator('.live-rows').boundingBox()) ?? {};
  const clickRow = () => page.mouse.click(x + 200, y + 50);
  const keys = (...names: string[]) => names.map((name) => () => page.keyboard.press(name));
  const interactions = [
    clickRow,
    ...keys('j', 'j', 'k', 'Escape', 'Space', 'Space', '/', ...'order', 'Enter'),
    clickRow,
    ...keys('j', 'Escape'),
  ];
  for (const interaction of interactions) {
    await interaction();
    await page.waitForTimeout(400);
  }
  return interactions.length;
}

export type FloodRun = Awaited<ReturnType<typeof measureLivePageFrames>>;

export async function measureLivePageFrames(system: ConsoleSystem, seconds: number, eventsPerSecond: number) {
  const { personalApiKey } = system.bench.database;
  return whileSending(system, eventsPerSecond, () =>
    withTab(system.browser, { personalApiKey }, async (tab) => {
      const { page, session } = tab;
      await waitUntilDrawn(tab, liveOf(system), rows);
      await page.evaluate('bench.watchFrames()');
      const [workedBefore, startedAt] = [await readMainThreadMs(session), performance.now()];
      await page.waitForTimeout(seconds * 1000);
      const mainThreadMs = (await readMainThreadMs(session)) - workedBefore;
      const mainThreadCores = mainThreadMs / (performance.now() - startedAt);
      return { frameMs: await page.evaluate<number[]>('bench.frameMs'), mainThreadCores };
    }),
  );
}

export async function measureCurlDelay(system: ConsoleSystem, times: number): Promise<number[]> {
  const { personalApiKey } = system.bench.database;
  return withTab(system.browser, { personalApiKey }, async ({ page }) => {
    await page.goto(liveOf(system));
    // Wait until the stream is open, because the page does not receive events that are stored before.
    await page.waitForTimeout(1500);
    const taken: number[] = [];
    for (let one = 0; one < times; one += 1) {
      const event = `curl ${randomUUID()}`;
      const body = JSON.stringify({ api_key: system.projects[0]?.apiKey, event, distinct_id: 'ada' });
      const shown = page.evaluate(`new Promise((resolve) => {
        const look = () => document.body.innerText.includes(${JSON.stringify(event)}) ? resolve() : requestAnimationFrame(look);
        look();
      })`);
      const startedAt = performance.now();
      const address = `http://127.0.0.1:${system.gateway.port}/i/v0/e/`;
      const { status, output } = await runProgram('curl', ['-sSf', address, '-d', body]);
      if (status !== 0) throw new Error(`curl ended with ${status}: ${output}`);
      await shown;
      taken.push(performance.now() - startedAt);
    }
    return taken;
  });
}
