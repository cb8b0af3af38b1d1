import { randomUUID } from 'node:crypto';
import { runProgram } from '@millrace/stack/run-program';
import type { Browser, Page } from 'playwright-core';
import { sendLoad } from '../load/measure-load.ts';
import type { Drawn, FloodRun } from '../report/console-report.ts';
import { batchesFor, type ConsoleSystem, eventsPerBatch } from './console-system.ts';
import { heapBytes, readMetric, slowedBy, untilDrawn, visit } from './open-page.ts';

const rows = '.live-rows [role=option]';
const liveOf = ({ api, projects }: ConsoleSystem, port = api.port) =>
  `http://127.0.0.1:${port}/console/projects/${projects[0]?.id}/live`;

/** Sends events of the first project at a rate while something is measured. */
async function whileSending<Result>(system: ConsoleSystem, perSecond: number, work: () => Promise<Result>) {
  let isOver = false;
  const requests = batchesFor(system.projects.slice(0, 1), 40);
  const job = { requests, connections: 16, requestsPerSecond: perSecond / eventsPerBatch, durationMs: 2000 };
  const sending = (async () => {
    while (!isOver) await sendLoad(system.events, { ...job, port: system.gateway.port });
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await sending;
  }
}

/** Until Live shows events, with the processor slowed; once for each visit. */
export async function measureUsable(browser: Browser, system: ConsoleSystem, visits: number): Promise<Drawn[]> {
  const { personalApiKey } = system.database;
  return whileSending(system, 100, async () => {
    const taken: Drawn[] = [];
    for (let one = 0; one < visits; one += 1) {
      taken.push(
        await visit(browser, { personalApiKey, slow: slowedBy }, (tab) => untilDrawn(tab, liveOf(system), rows)),
      );
    }
    return taken;
  });
}

/** Each interaction on Live, from the press to the next frame, milliseconds; with the processor slowed, while events arrive. */
export async function measureInteractions(browser: Browser, system: ConsoleSystem): Promise<number[]> {
  const { personalApiKey } = system.database;
  return whileSending(system, 100, () =>
    visit(browser, { personalApiKey, slow: slowedBy }, async (tab) => {
      const { page } = tab;
      await untilDrawn(tab, liveOf(system), rows);
      const count = await interact(page);
      const taken = await page.evaluate<number[]>('[...bench.inputMs.values()]');
      // What is quicker than a frame is not told.
      return [...taken, ...Array.from({ length: Math.max(0, count - taken.length) }, () => 16)];
    }),
  );
}

/** @returns how many interactions that were. */
async function interact(page: Page): Promise<number> {
  const pause = () => page.waitForTimeout(400);
  const keys = async (...names: string[]) => {
    for (const name of names) {
      await page.keyboard.press(name);
      await pause();
    }
    return names.length;
  };
  const click = async (x: number, y: number) => {
    await page.mouse.click(x, y);
    await pause();
    return 1;
  };
  const list = await page.locator('.live-rows').boundingBox();
  const { x = 0, y = 0 } = list ?? {};
  let count = await click(x + 200, y + 50);
  count += await keys('j', 'j', 'k', 'Escape', 'Space', 'Space', '/');
  count += await keys(...'order');
  count += await keys('Enter');
  count += await click(x + 200, y + 50);
  return count + (await keys('j', 'Escape'));
}

/** At 20 rows a second. */
const fillsWithinMs = 120_000;
const isFull = `Number(document.querySelector(${JSON.stringify(rows)})?.getAttribute('aria-setsize')) >= 1000`;

/** @param port where the page is served, if not by the API itself. */
export async function measureFlood(
  browser: Browser,
  system: ConsoleSystem,
  { seconds, eventsPerSecond, port }: { seconds: number; eventsPerSecond: number; port?: number },
): Promise<FloodRun> {
  const { personalApiKey } = system.database;
  const work = () =>
    visit(browser, { personalApiKey }, async (tab) => {
      const { page, session } = tab;
      await untilDrawn(tab, liveOf(system, port), rows);
      // Memory is level once the list has all the rows it keeps.
      await page.waitForFunction(isFull, undefined, { timeout: fillsWithinMs, polling: 500 });
      const heap: number[] = [];
      await page.evaluate('bench.watchFrames()');
      const [workedBefore, startedAt] = [await readMetric(session, 'TaskDuration'), performance.now()];
      const frameMs: number[] = [];
      for (let part = 0; part < 4; part += 1) {
        await page.waitForTimeout((seconds * 1000) / 4);
        frameMs.push(...(await page.evaluate<number[]>('bench.frameMs.splice(0)')));
        // Collecting takes the page's time: it is no frame of the page's own.
        heap.push(await heapBytes(session));
        await page.evaluate('new Promise(requestAnimationFrame).then(() => void bench.frameMs.splice(0))');
      }
      const worked = (await readMetric(session, 'TaskDuration')) - workedBefore;
      const mainThreadShare = worked / ((performance.now() - startedAt) / 1000);
      const keptRows = Number(await page.locator(rows).first().getAttribute('aria-setsize'));
      return {
        frameMs,
        heapBytes: heap,
        mainThreadShare,
        keptRows,
        shareTold: (await page.getByText('% of them are shown').count()) > 0,
      };
    });
  return eventsPerSecond === 0 ? work() : whileSending(system, eventsPerSecond, work);
}

/** Milliseconds from the start of `curl` until the event is on an open page. */
export async function measureCurl(browser: Browser, system: ConsoleSystem, times: number): Promise<number[]> {
  const [project] = system.projects;
  return visit(browser, { personalApiKey: system.database.personalApiKey }, async ({ page }) => {
    await page.goto(liveOf(system));
    // The page is told of nothing that came before its stream was open.
    await page.waitForTimeout(1500);
    const taken: number[] = [];
    for (let one = 0; one < times; one += 1) {
      const event = `curl ${randomUUID()}`;
      const body = JSON.stringify({ api_key: project?.apiKey, event, distinct_id: 'ada' });
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
