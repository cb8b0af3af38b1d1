import type { Page } from 'playwright-core';

/** Resolves when the page has received and applied the environment's settings. */
export async function waitForSettings(page: Page, token = 'phc_test'): Promise<void> {
  await page.waitForFunction((key) => localStorage.getItem(key) !== null, `ph_${token}_remote_config`);
}
