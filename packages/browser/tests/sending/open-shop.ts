import type { BrowserContext, Page } from 'playwright-core';
import type { Client, InitOptions } from '../../src/client/client.ts';
import { openPage, type Visit } from '../support/open-page.ts';

declare global {
  interface Window {
    posthog: Client;
  }
}

export const token = 'phc_test';

export function shopOptions(ingestUrl: string, options: InitOptions = {}): InitOptions {
  return {
    api_host: ingestUrl,
    opt_out_useragent_filter: true,
    autocapture: false,
    capture_pageview: false,
    capture_pageleave: false,
    advanced_disable_flags: true,
    rate_limiting: { events_per_second: 10_000, events_burst_limit: 100_000 },
    ...options,
  };
}

/** Options with the shortest possible delay before sending. */
export const quickOptions: InitOptions = { request_queue_config: { flush_interval_ms: 250 } };

export async function openShop(visitor: BrowserContext, address: string, options: InitOptions): Promise<Visit> {
  const visit = await openPage(visitor, address);
  await startLibrary(visit.page, options);
  return visit;
}

export async function startLibrary(page: Page, options: InitOptions): Promise<void> {
  await page.waitForFunction(() => window.posthog !== undefined);
  await page.evaluate(`window.posthog.init(${JSON.stringify(token)}, ${JSON.stringify(options)}); undefined`);
}

/** Captures `count` events in one task, named `<name> 0`, `<name> 1`, …, and returns their UUIDs. */
export async function captureMany(page: Page, name: string, count: number, size = 0): Promise<string[]> {
  return page.evaluate(
    ([prefix, most, length]) =>
      Array.from({ length: most }, (_, n) => {
        const text = 'x'.repeat(length);
        return window.posthog.capture(`${prefix} ${n}`, { text })?.uuid ?? 'not captured';
      }),
    [name, count, size] as const,
  );
}

export async function listQueueRecords(page: Page): Promise<string[]> {
  return page.evaluate((key) => Object.keys(localStorage).filter((name) => name.startsWith(`ph_${key}_queue_`)), token);
}

/** Stops the page's clock. After that, only `page.clock.runFor` advances the clock. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  // The pause must begin in the future, even in a slow browser, because the clock cannot be set back.
  await page.clock.pauseAt(Date.now() + 60_000);
}
