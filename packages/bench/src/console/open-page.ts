// Opens pages in a browser with a throttled CPU, and measures how they load.

import type { Browser, CDPSession, Page } from 'playwright-core';

export interface Tab {
  page: Page;
  session: CDPSession;
}

/** Factor by which the CPU is slowed down for pages with a throttled CPU. */
export const cpuSlowdown = 4;

export interface PageTimings {
  /** Milliseconds from the navigation until an element that matches the selector is visible. */
  ms: number;
  /** CPU time that the main thread uses until the element is drawn. Other work on the machine does not affect it. */
  mainThreadMs: number;
}

/** Opens a tab as a new visitor who is signed in with an API key, which shows the same pages as a session. */
export async function withTab<Result>(
  browser: Browser,
  { personalApiKey, slow = 1 }: { personalApiKey: string; slow?: number },
  measure: (tab: Tab) => Promise<Result>,
): Promise<Result> {
  const visitor = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    extraHTTPHeaders: { authorization: `Bearer ${personalApiKey}` },
  });
  try {
    const page = await visitor.newPage();
    const session = await visitor.newCDPSession(page);
    // `threadTicks` measures CPU time and excludes the time for which the thread waited for a processor.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    if (slow > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slow });
    await page.addInitScript(watchPage);
    return await measure({ page, session });
  } finally {
    await visitor.close();
  }
}

export async function waitUntilDrawn({ page, session }: Tab, address: string, selector: string): Promise<PageTimings> {
  await page.goto(address, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(`bench.untilDrawn(${JSON.stringify(selector)})`);
  return { ms, mainThreadMs: await readMainThreadMs(session) };
}

export async function readMainThreadMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}

/** A string, because this code runs in the page, and a module loader might insert helper calls into a function. */
const watchPage = `
window.bench = {
  frameMs: [],
  inputMs: new Map(),
  untilDrawn: (selector) => new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(selector) === null) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
  }),
  watchFrames: () => {
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
