import { eventually } from '@millrace/testing';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { ScriptedIngest } from '../../../browser/tests/support/scripted-ingest.ts';
import type { ClickRun, Side } from '../report/browser-measurement.ts';
import { buttons } from './busy-page.ts';

export interface BenchPages {
  browser: Browser;
  siteUrl: string;
  ingest: ScriptedIngest;
}

const slowedBy = 4;

/** Milliseconds of evaluating the library, from its text, and of `init`, for somebody who was never here before. */
export async function measureInit(pages: BenchPages, library: Side): Promise<number> {
  return visit(pages, '/small', ({ page }) =>
    page.evaluate(`bench.load('/${library}.js', ${optionsOf(pages.ingest.url)})`),
  );
}

/** Clicks once on each button of the busy page, as a mouse does; the library was loaded as sites do. */
export async function measureClicks(pages: BenchPages, side: Side): Promise<ClickRun> {
  const { ingest } = pages;
  return visit(pages, '/busy', async ({ page, session }) => {
    const before = await mainThreadMs(session);
    await page.evaluate(`bench.loadBeside('/${side}.js', ${optionsOf(ingest.url)})`);
    await clickAll(page, '#begin');
    if (side !== 'none') await untilCaptured(page, ingest);
    await page.evaluate('bench.watchClicks()');
    await clickAll(page, '.buy');
    const measured = (await page.evaluate('bench.measured()')) as Pick<ClickRun, 'clickMs' | 'longTasks'>;
    const run = { side, ...measured, mainThreadMs: (await mainThreadMs(session)) - before };
    if (run.clickMs.length !== buttons) throw new Error(`The page saw ${run.clickMs.length} of ${buttons} clicks.`);
    if (side !== 'none') await untilAllArrived(ingest, side);
    return run;
  });
}

interface Visit {
  page: Page;
  session: CDPSession;
}

async function visit<Result>(
  { browser, siteUrl, ingest }: BenchPages,
  path: string,
  measure: (visit: Visit) => Promise<Result>,
): Promise<Result> {
  ingest.clear();
  const visitor = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  try {
    const page = await visitor.newPage();
    await page.goto(siteUrl + path);
    await page.waitForFunction('window.bench !== undefined && crossOriginIsolated');
    const session = await visitor.newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowedBy });
    return await measure({ page, session });
  } finally {
    await visitor.close();
  }
}

/** Of both alike: as they come, with room for quick clicks, without what only the reference has. */
function optionsOf(host: string): string {
  return JSON.stringify({
    api_host: host,
    autocapture: true,
    // It is a driven browser.
    opt_out_useragent_filter: true,
    rate_limiting: { events_per_second: 1000, events_burst_limit: 10_000 },
    disable_session_recording: true,
    disable_surveys: true,
  });
}

/** Autocapture begins when the environment's settings are there. Clicks at one place come slowly enough to be no rage. */
async function untilCaptured(page: Page, ingest: ScriptedIngest): Promise<void> {
  await eventually(
    async () => {
      await clickAll(page, '#begin');
      return ingest.events('$autocapture').length > 0;
    },
    { what: 'The first captured click', intervalMs: 1500 },
  );
}

async function untilAllArrived(ingest: ScriptedIngest, side: Side): Promise<void> {
  const clicked = () => new Set(ingest.events('$autocapture').map(({ properties }) => properties.$el_text)).size;
  await eventually(() => clicked() > buttons, { what: `The arrival of all clicks by ${side}`, describe: clicked });
}

/** By the mouse alone: Playwright's own `click` would have the page work out a lot. */
async function clickAll(page: Page, selector: string): Promise<void> {
  const centres: { x: number; y: number }[] =
    await page.evaluate(`Array.from(document.querySelectorAll('${selector}'), (one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  })`);
  for (const { x, y } of centres) await page.mouse.click(x, y);
}

async function mainThreadMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}
