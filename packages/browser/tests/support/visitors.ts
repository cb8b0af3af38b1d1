import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * Provides new visitors. A browser profile takes twice as long to create as a page, so the profiles of visitors who
 * have left are reused. A test that changes the visitor with an init script or the clock needs its own profile:
 * `browser.newContext()`.
 */
export interface Visitors {
  next(): Promise<BrowserContext>;
  /**
   * Removes what the former user of the profile stored. Must be called on the first page of each visitor before the
   * library starts.
   */
  forget(page: Page): Promise<void>;
  /** Closes all pages, and also the profiles that a test created for itself. */
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
