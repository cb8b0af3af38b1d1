import type { Page } from 'playwright-core';

let marks = 0;

/** Resolves when one tab of a visitor sees what another has stored until now: a busy browser takes its time to tell. */
export async function storeShared(from: Page, to: Page): Promise<void> {
  marks += 1;
  // Tabs see each other's changes in their order.
  await from.evaluate((mark) => localStorage.setItem('shared', mark), String(marks));
  await to.waitForFunction((mark) => localStorage.getItem('shared') === mark, String(marks));
}
