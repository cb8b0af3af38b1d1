import { eventually, patienceMs, startServer, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { openPage, type Visit } from '../../browser/tests/support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../../browser/tests/support/scripted-ingest.ts';
import { bundlePage, reactVersions } from './support/bundle-page.ts';

let browser: Browser;
let site: TestServer;
let ingest: ScriptedIngest;
beforeAll(async () => {
  browser = await launchChromium();
  site = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"></html>');
  });
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});
// Each test starts its own server, because pages closed by the previous test may still be sending requests.
beforeEach(async () => {
  ingest = await startScriptedIngest();
  ingest.flags = { 'price-test': 'green' };
});
afterEach(() => ingest.stop());

describe.each(reactVersions)('PostHogProvider with the real client on React %s', (react) => {
  async function open(options: object = {}, shop: 'openShop' | 'openBrokenShop' = 'openShop'): Promise<Visit> {
    // Turn off the bot filter, because the client treats a headless browser as a bot.
    const given = JSON.stringify({
      ...{ api_host: ingest.url, opt_out_useragent_filter: true, feature_flag_request_timeout_ms: patienceMs },
      ...options,
    });
    const visit = await openPage(await browser.newContext(), site.url);
    await visit.page.addScriptTag({ content: await bundlePage('shop.ts', { react }) });
    await visit.page.evaluate(`${shop}(${given})`);
    return visit;
  }

  it('starts the client once, also in StrictMode, and shows flags when they arrive', async () => {
    const { page, complaints } = await open();
    await page.waitForFunction(() => texts.at(-1) === 'green New');
    expect(await page.evaluate(() => texts)).toEqual(['undefined', 'green New']);
    await eventually(() => expect(ingest.events('$feature_flag_called')).toHaveLength(1));
    expect(ingest.requests.filter(({ path }) => path.startsWith('/array/'))).toHaveLength(1);
    expect(ingest.events('$feature_flag_called')[0]?.properties).toMatchObject({ $feature_flag_response: 'green' });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("shows bootstrapped flags first, then fetched flags, then another person's flags", async () => {
    const { page } = await open({ bootstrap: { featureFlags: { 'price-test': 'blue' } } });
    await page.waitForFunction(() => texts.at(-1) === 'green New');
    ingest.flags = { 'price-test': 'red' };
    await page.locator('button').click();
    await page.waitForFunction(() => texts.at(-1) === 'red');
    expect(await page.evaluate(() => texts)).toEqual(['blue', 'green New', 'red']);
    await page.context().close();
  });

  it('starts the client before its children capture their first event', async () => {
    const { page, complaints } = await open();
    // Wait for two events, because React runs effects twice in development mode.
    await eventually(() => expect(ingest.events('shop opened')).toHaveLength(2));
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("captures an error from the application's first render", async () => {
    const { page, complaints } = await open({}, 'openBrokenShop');
    await page.waitForFunction(() => texts.at(-1) === '$exception');
    await eventually(() => expect(ingest.events('$exception')).toHaveLength(1));
    expect(ingest.events('$exception')[0]?.properties.$exception_list).toMatchObject([{ value: 'No shop today' }, {}]);
    expect(complaints.filter((complaint) => complaint.includes('initialize'))).toEqual([]);
    await page.context().close();
  });

  it('captures a view of a feature', async () => {
    const { page } = await open();
    await eventually(() => expect(ingest.events('$feature_view')).toHaveLength(1));
    expect(ingest.events('$feature_view')[0]).toMatchObject({
      properties: {
        feature_flag: 'price-test',
        feature_flag_variant: 'green',
        $set: { '$feature_view/price-test': 'green' },
      },
    });
    await page.context().close();
  });
});
