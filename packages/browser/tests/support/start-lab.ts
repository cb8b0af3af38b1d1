import { patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext } from 'playwright-core';
import type { Client, InitOptions } from '../../src/client/client.ts';
import { openPage, type Visit } from './open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from './scripted-ingest.ts';
import { type SiteOptions, startSite } from './start-site.ts';
import { createVisitors, type Visitors } from './visitors.ts';

declare global {
  interface Window {
    posthog: Client;
  }
}

export interface VisitOptions {
  options?: InitOptions;
  path?: string;
  /** A returning visitor. By default, the visitor is new. */
  visitor?: BrowserContext;
  /**
   * Whether to call `init`. The default is true. Use false for options that are functions, which must be created inside
   * the page.
   */
  isStarted?: boolean;
}

export interface Lab {
  browser: Browser;
  site: TestServer;
  ingest: ScriptedIngest;
  visit(options?: VisitOptions): Promise<Visit>;
  visitors: Visitors;
  stop(): Promise<void>;
}

/**
 * The options of most tests. Nothing is captured automatically, events are sent immediately, and the test browser is
 * not treated as a bot.
 */
export const plainOptions: InitOptions = {
  opt_out_useragent_filter: true,
  autocapture: false,
  capture_pageview: false,
  flushAt: 1,
  // The timeout is long, because a busy machine may be slow.
  feature_flag_request_timeout_ms: patienceMs,
};

/** Starts a browser, a site with the library, and an ingest host, for an entire test file. */
export async function startLab(siteOptions?: SiteOptions): Promise<Lab> {
  const [browser, site, ingest] = await Promise.all([launchChromium(), startSite(siteOptions), startScriptedIngest()]);
  const visitors = createVisitors(browser);
  return {
    browser,
    site,
    ingest,
    visitors,
    async visit({ options = {}, path = '/shop', visitor, isStarted = true } = {}) {
      const visit = await openPage(visitor ?? (await visitors.next()), site.url + path);
      if (!visitor) await visitors.forget(visit.page);
      await visit.page.waitForFunction(() => window.posthog !== undefined);
      const all: InitOptions = { api_host: ingest.url, ...plainOptions, ...options };
      if (isStarted)
        await visit.page.evaluate((given) => void window.posthog.init('phc_test', given as InitOptions), all as object);
      return visit;
    },
    async stop() {
      await browser.close();
      await Promise.all([site.stop(), ingest.stop()]);
    },
  };
}
