import type { Page } from 'playwright-core';

/** Resolves when the page has heard the environment's settings, and has done what they ask. */
export async function settingsKnown(page: Page, token = 'phc_test'): Promise<void> {
  await page.waitForFunction((key) => localStorage.getItem(key) !== null, `ph_${token}_remote_config`);
}
