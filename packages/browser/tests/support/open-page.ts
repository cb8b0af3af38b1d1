import { eventually } from '@millrace/testing';
import type { BrowserContext, Page, Request } from 'playwright-core';

export interface Visit {
  page: Page;
  /** Everything thrown, and every error and warning on the console. */
  complaints: string[];
  /** Waits until every request of the page was answered: before that, the browser keeps no page for the back button. */
  untilIdle: () => Promise<void>;
}

/** A page of a visitor. */
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
 * Leaves for the first page of the site, on which nothing is started. Not for `about:blank`: that is of another process, and to a page
 * that is busy while it is left for one Chromium gives half a second, and then ends it without its last events.
 */
export async function leave(page: Page): Promise<void> {
  await page.goto(new URL('/', page.url()).href);
}

/**
 * A page that was left for another, and that the back button showed again as it was. A busy browser may not have kept it:
 * the visit is then made once more.
 */
export async function openKept(open: () => Promise<Visit>, elsewhere: string): Promise<Page> {
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
  // Skipped where the command of the tests has said that it found no other browser.
  throw new Error('WINDOWED_CHROMIUM_PATH is not set: the browser kept none of 10 pages');
}

function throwIfAny(underWay: Set<Request>): void {
  for (const request of underWay) throw new Error(`Not answered yet: ${request.url()}`);
}
