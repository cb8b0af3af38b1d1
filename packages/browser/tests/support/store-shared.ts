import type { Page } from 'playwright-core';

let marks = 0;

/** Resolves when one tab can read everything that the other tab has stored. A busy browser needs some time for this. */
export async function waitForSharedStorage(from: Page, to: Page): Promise<void> {
  marks += 1;
  // Each tab receives the other tab's changes in order.
  await from.evaluate((mark) => localStorage.setItem('shared', mark), String(marks));
  await to.waitForFunction((mark) => localStorage.getItem('shared') === mark, String(marks));
}
