import { eventually } from '@millrace/testing';
import type { BrowserContext, Page, Request } from 'playwright-core';

export interface Visit {
  page: Page;
  complaints: string[];
  /**
   * Waits until the page has no pending requests. Otherwise, the browser would not keep the page in the back/forward
   * cache.
   */
  untilIdle: () => Promise<void>;
}

export async function openPage(visitor: BrowserContext, address: string): Promise<Visit> {
  const page = await visitor.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  const underWay = new Set<Request>();
  page.on('request', (request) => underWay.add(request));
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  await page.goto(address);
  return { page, complaints, untilIdle: () => eventually(() => throwIfAny(underWay)) };
}

/**
 * Navigates to the site's first page, which does not start the library. `about:blank` would run in a separate process,
 * and Chromium would end a busy page after half a second, without sending its last events.
 */
export async function leavePage(page: Page): Promise<void> {
  await page.goto(new URL('/', page.url()).href);
}

/**
 * Opens a page, leaves it, and returns to the cached page with the back button. Tries again if a busy browser did not
 * cache the page.
 */
export async function openCachedPage(open: () => Promise<Visit>, elsewhere: string): Promise<Page> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const { page, untilIdle } = await open();
    await page.evaluate('window.isAsItWas = true');
    await untilIdle();
    await page.goto(elsewhere);
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForFunction('document.readyState === "complete"');
    if (await page.evaluate("'isAsItWas' in window")) return page;
    await page.close();
  }
  // If a windowed browser is not available, the test command skips a test that fails with this message.
  throw new Error('WINDOWED_CHROMIUM_PATH is not set: the browser kept none of 10 pages');
}

function throwIfAny(underWay: Set<Request>): void {
  for (const request of underWay) throw new Error(`No response yet: ${request.url()}`);
}
