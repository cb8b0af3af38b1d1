import { eventually } from '@millrace/testing';
import type { Browser } from 'playwright-core';
import type { Client } from '../../src/client/client.ts';
import { openBrowser, openPage } from '../support/open-browser.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import type { TestServer } from '../support/start-server.ts';
import { startSite } from '../support/start-site.ts';

declare global {
  interface Window {
    posthog: Client;
  }
}

let browser: Browser;
let site: TestServer;
let ingest: ScriptedIngest;

beforeAll(async () => {
  [browser, site, ingest] = await Promise.all([openBrowser(), startSite(), startScriptedIngest()]);
});
afterAll(async () => {
  await Promise.all([browser.close(), site.stop(), ingest.stop()]);
});

test('what is captured arrives, with who and where', async () => {
  const visitor = await browser.newContext();
  const { page, complaints } = await openPage(visitor, `${site.url}/shop?utm_source=news`);
  await page.evaluate((host) => {
    window.posthog.init('phc_test', { api_host: `${host}/`, opt_out_useragent_filter: true, capture_pageview: false });
    window.posthog.capture('order placed', { total: 42 }, { send_instantly: true });
  }, ingest.url);
  const [event] = await eventually(() => {
    const events = ingest.events('order placed');
    expect(events).toHaveLength(1);
    return events;
  });
  expect(event?.properties).toMatchObject({ total: 42, token: 'phc_test', utm_source: 'news', $lib: 'web' });
  expect(event?.properties.distinct_id).toBe(await page.evaluate(() => window.posthog.get_distinct_id()));
  expect(complaints).toEqual([]);
});
