import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { eventually, patienceMs } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Client, InitOptions } from '../../src/index.ts';
import { type ReceivedEvent, type ScriptedIngest, startScriptedIngest } from './scripted-ingest.ts';
import { startSite } from './start-site.ts';
import { createVisitors } from './visitors.ts';

declare global {
  interface Window {
    posthog: Client;
    heard: unknown[];
  }
}

export type Library = 'ours' | 'reference';

export interface Entrance {
  /** A returning visitor. By default, the visitor is new. */
  visitor?: BrowserContext;
  library?: Library;
  before?: () => void;
}

export interface Shop {
  /** The current test's ingest host. `empty` replaces the host, because closed pages may still send events to it. */
  ingest: ScriptedIngest;
  browser: Browser;
  siteUrl: string;
  /** Opens a page and calls `init`. Without an entrance, the visitor is new. */
  enter(options?: Partial<InitOptions>, entrance?: Entrance): Promise<Page>;
  /** Waits until at least `count` events with the given name have arrived, and returns them. */
  received(name: string, count: number): Promise<ReceivedEvent[]>;
  flagRequests(): Record<string, unknown>[];
  empty(): Promise<void>;
  stop(): Promise<void>;
}

const referencePage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<script type="module">import posthog from '/reference.js'; window.posthog = posthog;</script></head><body></body></html>`;

/** Starts a shop that can load both libraries, an ingest host and a browser, for an entire test file. */
export async function openShop(): Promise<Shop> {
  const reference = createRequire(import.meta.url).resolve('posthog-js/dist/module.no-external.js');
  const [browser, ingest, site] = await Promise.all([
    launchChromium(),
    startScriptedIngest(),
    startSite({
      files: {
        '/reference.js': { type: 'text/javascript', content: await readFile(reference, 'utf8') },
        '/reference': { type: 'text/html; charset=utf-8', content: referencePage },
      },
    }),
  ]);
  const visitors = createVisitors(browser);

  const shop: Shop = {
    ingest,
    browser,
    siteUrl: site.url,
    async enter(options = {}, { visitor, library = 'ours', before } = {}) {
      const page = await (visitor ?? (await visitors.next())).newPage();
      await page.goto(library === 'ours' ? site.url : `${site.url}/reference`);
      if (!visitor) await visitors.forget(page);
      await page.waitForFunction(() => window.posthog !== undefined);
      await page.evaluate(() => {
        window.heard = [];
      });
      if (before) await page.evaluate(before);
      await page.evaluate((init) => void window.posthog.init('phc_test', init as InitOptions), {
        api_host: shop.ingest.url,
        opt_out_useragent_filter: true,
        // The timeout is long, because a busy machine may be slow.
        feature_flag_request_timeout_ms: patienceMs,
        autocapture: false,
        capture_pageview: false,
        disable_session_recording: true,
        disable_surveys: true,
        request_queue_config: { flush_interval_ms: 250 },
        ...options,
      } as object);
      return page;
    },
    received: (name, count) =>
      eventually(() => {
        const events = shop.ingest.events(name);
        expect(events.length).toBeGreaterThanOrEqual(count);
        return events;
      }),
    flagRequests() {
      const flagRequests = shop.ingest.requests.filter(({ path }) => path === '/flags/');
      return flagRequests.map(({ body }) => body as Record<string, unknown>);
    },
    async empty() {
      const former = shop.ingest;
      shop.ingest = await startScriptedIngest();
      await visitors.leave();
      await former.stop();
    },
    async stop() {
      await browser.close();
      await Promise.all([site.stop(), shop.ingest.stop()]);
    },
  };
  return shop;
}

/** Resolves when flags have loaded or the request has failed. */
export async function waitForFlags(page: Page): Promise<void> {
  await page.waitForFunction(() => window.posthog.featureFlags.hasLoadedFlags);
}
