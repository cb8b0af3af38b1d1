import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * People who were never here. A profile costs a browser twice what a page does, so who has left comes again as somebody else.
 * A test that changes the visitor, by an init script or the clock, has one of its own: `browser.newContext()`.
 */
export interface Visitors {
  next(): Promise<BrowserContext>;
  /** Has to be done on the first page of each, before the library starts: what was kept by who came before is gone. */
  forget(page: Page): Promise<void>;
  /** All of them, and those who were a test's own for good. */
  leave(): Promise<void>;
}

export function createVisitors(browser: Browser): Visitors {
  const here = new Set<BrowserContext>();
  const gone = new Set<BrowserContext>();

  async function leave(visitor: BrowserContext): Promise<void> {
    if (!here.delete(visitor)) return gone.has(visitor) ? undefined : visitor.close();
    await Promise.all(visitor.pages().map((page) => page.close()));
    await visitor.clearCookies();
    gone.add(visitor);
  }
  return {
    async next() {
      const [visitor = await browser.newContext()] = gone;
      gone.delete(visitor);
      here.add(visitor);
      visitor.once('close', () => here.delete(visitor));
      return visitor;
    },
    forget: (page) => page.evaluate(() => localStorage.clear()),
    leave: async () => void (await Promise.all(browser.contexts().map(leave))),
  };
}
