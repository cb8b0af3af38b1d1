import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleLibrary } from '@millrace/browser/bundle-library';
import { eventually, startServer, type TestServer } from '@millrace/testing';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { ScriptedIngest } from '../../../browser/tests/support/scripted-ingest.ts';
import type { ClickRun, Side } from '../report/browser-report.ts';

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

/** Of both alike: as they come, with room for quick clicks, without what only PostHog has. */
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
  await eventually(() => clicked() > buttons, { what: `The arrival of all clicks from ${side}`, describe: clicked });
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

/** What pages load without a build: ours, and the file that PostHog's snippet asks for. */
export interface PageScripts {
  millrace: string;
  reference: string;
}

export async function readPageScripts(): Promise<PageScripts> {
  const reference = await readFile(referenceFile('dist/array.js'), 'utf8');
  return { millrace: (await bundleLibrary('array.js')).code, reference };
}

function referenceFile(path: string): string {
  const manifest = createRequire(import.meta.url).resolve('posthog-js/package.json');
  return join(dirname(manifest), path);
}

/** A shop: `/small` and `/busy`, and at `/<side>.js` the library that a page loads. */
export async function startBenchSite(scripts: PageScripts): Promise<TestServer> {
  const inPage = await readFile(new URL('in-page.mjs', import.meta.url), 'utf8');
  const files: Record<string, [type: string, content: string]> = {
    '/small': ['text/html; charset=utf-8', smallPage],
    '/busy': ['text/html; charset=utf-8', busyPage],
    '/in-page.mjs': ['text/javascript', inPage],
    '/millrace.js': ['text/javascript', scripts.millrace],
    '/reference.js': ['text/javascript', scripts.reference],
    '/none.js': ['text/javascript', ''],
  };
  return startServer((request, response) => {
    const [type, content] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(content === '' && request.url !== '/none.js' ? 404 : 200, {
      'content-type': type,
      // A page that shares its process with no other has a clock of 5 µs instead of 100.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'credentialless',
    });
    response.end(content);
  });
}

const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<script type="module" src="/in-page.mjs"></script>
<style>
  body { margin: 0 } ul { display: grid; grid-template-columns: repeat(20, 60px); grid-auto-rows: 66px; margin: 0; padding: 0 }
  li { overflow: hidden; list-style: none; font: 8px sans-serif } p { margin: 0 } button { display: block; height: 20px }
</style></head><body>`;

const smallPage = `${head}<h1>Shop</h1><button id="begin">Begin</button></body></html>`;

/** Each far enough from the next one that clicking them all is no rage. */
const buttons = 200;

/** 5,000 elements, of which one in twenty-five is a button, all of them on the screen. */
const busyPage = `${head}<main><ul>${Array.from({ length: buttons }, (_, at) => product(at)).join('')}</ul></main>
<button id="begin" style="position: fixed; right: 0; bottom: 0">Begin</button></body></html>`;

/** 25 elements. */
function product(at: number): string {
  const facts = Array.from({ length: 9 }, (_, fact) => `<dt>Fact ${fact}</dt><dd>${at * fact}</dd>`).join('');
  return `<li id="product-${at}" class="product shown"><article data-product="${at}" class="card wide">
    <button type="button" class="buy primary" data-shelf="${at % 7}"><span>Buy ${at}</span></button>
    <h2 class="name">Product ${at}</h2><p>Made by hand.</p><dl class="facts">${facts}</dl></article></li>`;
}
