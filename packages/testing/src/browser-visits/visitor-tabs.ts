import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';

export type CapturedEvent = [uuid: string, distinctId: string];

/** The tabs in which somebody has pages of the shop open. */
export interface VisitorTabs {
  all: readonly Page[];
  /** How many pages were asked for. */
  pages(): number;
  open(): Promise<Page>;
  goOn(tab: Page): Promise<Page>;
  /** Until the library has started. */
  ready(tab: Page): Promise<unknown>;
  /** @returns the events whose `capture` has returned. */
  capture(tab: Page, count: number): Promise<CapturedEvent[]>;
  close(tab: Page): Promise<void>;
  /** Its process is gone from one moment to the next, and maybe with it that of other tabs. */
  crash(tab: Page): Promise<void>;
}

export function createVisitorTabs(context: BrowserContext, siteUrl: string): VisitorTabs {
  const all: Page[] = [];
  let pages = 0;

  async function goOn(tab: Page): Promise<Page> {
    pages += 1;
    await tab.goto(`${siteUrl}/page/${pages}`, { waitUntil: 'commit' });
    return tab;
  }
  /** Chromium loses the wish to close a tab now and then, when it meets a navigation; Playwright then waits for ever. */
  async function close(tab: Page): Promise<void> {
    all.splice(all.indexOf(tab), 1);
    const closed = tab.close().then(() => true);
    if (await Promise.race([closed, sleep(5000, false)])) return;
    const session = await context.newCDPSession(tab);
    await Promise.race([session.send('Page.close'), closed]);
    await closed;
  }
  return {
    all,
    pages: () => pages,
    async open() {
      const tab = await context.newPage();
      all.push(tab);
      return goOn(tab);
    },
    goOn,
    ready: (tab) => tab.waitForFunction('window.posthog?.__loaded', null, { polling: 20 }),
    async capture(tab, count) {
      const names = Array.from({ length: count }, (_, n) => `seen ${pages}.${n}`);
      return tab.evaluate<CapturedEvent[]>(`window.capture(${JSON.stringify(names)})`);
    },
    close,
    async crash(tab) {
      const session = await context.newCDPSession(tab);
      const crashed = tab.waitForEvent('crash', { timeout: 10_000 });
      session.send('Page.crash').catch(() => {});
      await crashed;
      for (const one of [...all]) {
        const isAlive = await Promise.race([one.evaluate('true').catch(() => false), sleep(1000, false)]);
        if (!isAlive) await close(one).catch(() => {});
      }
    },
  };
}
