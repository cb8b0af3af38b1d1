import type { Page } from 'playwright-core';

let marks = 0;

/**
 * Resolves when one tab sees everything that the other tab has stored so far. In a busy browser, this takes some time.
 */
export async function storeShared(from: Page, to: Page): Promise<void> {
  marks += 1;
  // Tabs see each other's changes in order.
  await from.evaluate((mark) => localStorage.setItem('shared', mark), String(marks));
  await to.waitForFunction((mark) => localStorage.getItem('shared') === mark, String(marks));
}
