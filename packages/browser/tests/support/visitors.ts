import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * Provides new visitors. Creating a browser profile takes twice as long as creating a page, so visitors reuse the
 * profiles of earlier visitors. A test that uses an init script or the clock needs its own profile:
 * `browser.newContext()`.
 */
export interface Visitors {
  next(): Promise<BrowserContext>;
  /**
   * Removes the data of the profile's previous visitor. Call this on each visitor's first page before the library
   * starts.
   */
  forget(page: Page): Promise<void>;
  leave(): Promise<void>;
}

export function createVisitors(browser: Browser): Visitors {
  const active = new Set<BrowserContext>();
  const free = new Set<BrowserContext>();

  async function leave(visitor: BrowserContext): Promise<void> {
    if (!active.delete(visitor)) return free.has(visitor) ? undefined : visitor.close();
    await Promise.all(visitor.pages().map((page) => page.close()));
    await visitor.clearCookies();
    free.add(visitor);
  }
  return {
    async next() {
      const [visitor = await browser.newContext()] = free;
      free.delete(visitor);
      active.add(visitor);
      visitor.once('close', () => active.delete(visitor));
      return visitor;
    },
    forget: (page) => page.evaluate(() => localStorage.clear()),
    leave: async () => void (await Promise.all(browser.contexts().map(leave))),
  };
}
