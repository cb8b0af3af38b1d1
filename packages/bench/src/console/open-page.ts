import type { Browser, CDPSession, Page } from 'playwright-core';
import type { Drawn } from '../report/console-report.ts';

export interface Visit {
  page: Page;
  session: CDPSession;
}

export const slowedBy = 4;

export interface VisitOptions {
  /** In place of a session: the pages are the same. */
  personalApiKey: string;
  /** How many times slower the processor is for the page. */
  slow?: number;
}

/** Somebody who was never here before, with no page open yet. */
export async function visit<Result>(
  browser: Browser,
  { personalApiKey, slow = 1 }: VisitOptions,
  measure: (visit: Visit) => Promise<Result>,
): Promise<Result> {
  const visitor = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    extraHTTPHeaders: { authorization: `Bearer ${personalApiKey}` },
  });
  try {
    const page = await visitor.newPage();
    const session = await visitor.newCDPSession(page);
    // What the thread worked, not how long it waited for a processor.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    if (slow > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slow });
    await page.addInitScript(watchPage);
    return await measure({ page, session });
  } finally {
    await visitor.close();
  }
}

export async function untilDrawn({ page, session }: Visit, address: string, selector: string): Promise<Drawn> {
  await page.goto(address, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(`bench.untilDrawn(${JSON.stringify(selector)})`);
  return { ms, mainThreadMs: (await readMetric(session, 'TaskDuration')) * 1000 };
}

export async function readMetric(session: CDPSession, sought: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === sought)?.value ?? Number.NaN;
}

/** Bytes of JavaScript's heap that are still used after a collection. */
export async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return readMetric(session, 'JSHeapUsedSize');
}

/** As text: it is run in the page, and what runs these sources may put names of its own into functions. */
const watchPage = `
window.bench = {
  frameMs: [],
  inputMs: new Map(),
  /** Until the next frame that is drawn with it. */
  untilDrawn: (selector) => new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(selector) === null) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
  }),
  watchFrames: () => {
    bench.frameMs = [];
    let before = performance.now();
    const frame = (now) => {
      bench.frameMs.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame((now) => { before = now; requestAnimationFrame(frame); });
  },
};
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) {
    if (interactionId > 0) bench.inputMs.set(interactionId, Math.max(duration, bench.inputMs.get(interactionId) ?? 0));
  }
}).observe({ type: 'event', durationThreshold: 16 });
`;
