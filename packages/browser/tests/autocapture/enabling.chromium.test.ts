import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { openPage } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';

declare const posthog: import('../../src/index.ts').Client;

/** The settings response: without an autocapture setting, with autocapture on or off, or a failed request. */
type SettingsResponse = 'nothing' | 'on' | 'off' | 'none';

describe('autocapture', () => {
  let browser: Browser;
  let ingest: ScriptedIngest;
  let site: TestServer;
  let visitor: BrowserContext;

  beforeAll(async () => {
    const page = startSite({ body: '<button>Go</button>' });
    [browser, ingest, site] = await Promise.all([launchChromium(), startScriptedIngest(), page]);
  });
  beforeEach(async () => {
    visitor = await browser.newContext();
  });
  afterEach(() => visitor.close());
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await ingest?.stop();
  });

  const rows: [visits: SettingsResponse[], options: object, isOn: boolean][] = [
    [['on'], {}, true],
    [['off'], {}, false],
    [['nothing'], {}, false],
    [['none'], {}, false],
    [['on', 'nothing'], {}, true],
    [['on', 'none'], {}, true],
    [['on', 'off'], {}, false],
    [['off', 'nothing'], {}, false],
    [['off', 'none'], {}, false],
    [['off', 'on'], {}, true],
    [['on'], { autocapture: false }, false],
    // With `advanced_disable_flags`, the library does not request settings.
    [['none'], { advanced_disable_flags: true }, true],
    [['off'], { advanced_disable_flags: true }, true],
  ];
  test.each(rows)('autocapture is on after the responses %j with the options %j: %p', async (visits, options, isOn) => {
    let captured: string[] = [];
    for (const response of visits) captured = await visit(response, options);
    expect(captured).toEqual(isOn ? ['$autocapture'] : []);
  });

  test('stores the autocapture setting under the same key as posthog-js', async () => {
    await visit('off', {});
    expect(await visit('none', { advanced_disable_flags: true })).toEqual([]);
    const { page } = await openPage(visitor, site.url);
    const stored = await page.evaluate(() => JSON.parse(localStorage.getItem('ph_phc_test_posthog') ?? '{}'));
    expect(stored.$autocapture_disabled_server_side).toBe(true);
  });

  test('autocapture starts after the settings response and ends at shutdown', async () => {
    ingest.config.autocapture_opt_out = false;
    const { after, release } = createHold();
    ingest.respondWith(({ path }) =>
      path.startsWith('/array/') ? { after, body: { autocapture_opt_out: false } } : undefined,
    );
    const page = await open({});
    expect(await clicked(page)).toEqual([]);
    release();
    await eventually(async () => (await clicked(page)).length > 0);
    ingest.respondWith(null);
    await page.evaluate(() => posthog.shutdown());
    expect(await clicked(page)).toEqual([]);
  });

  /** Returns the events that a click captures after the settings response. */
  async function visit(response: SettingsResponse, options: object): Promise<string[]> {
    const { autocapture_opt_out: _, ...rest } = ingest.config;
    for (const name of Object.keys(ingest.config)) delete ingest.config[name];
    Object.assign(ingest.config, rest, {
      autocapture_opt_out: { nothing: undefined, on: false, off: true, none: false }[response],
    });
    ingest.respondWith(({ path }) => (response === 'none' && path.startsWith('/array/') ? { status: 500 } : undefined));
    const page = await open(options);
    // The library requests flags only after the settings request has succeeded or failed.
    if (!('advanced_disable_flags' in options)) {
      await eventually(() => ingest.requests.some(({ path }) => path.startsWith('/flags')));
    }
    const events = await clicked(page);
    await page.close();
    ingest.respondWith(null);
    return events;
  }

  async function open(options: object): Promise<Page> {
    ingest.clear();
    const { page } = await openPage(visitor, site.url);
    await page.waitForFunction('window.posthog');
    const given = {
      ...{ api_host: ingest.url, opt_out_useragent_filter: true, capture_pageview: false },
      ...{ feature_flag_request_timeout_ms: patienceMs, ...options },
    };
    await page.evaluate(`posthog.init('phc_test', ${JSON.stringify(given)})`);
    return page;
  }

  const clicked = (page: Page) =>
    page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const names: string[] = [];
      const stop = posthog.on('eventCaptured', ({ event }) => names.push(event));
      document.querySelector('button')?.click();
      await new Promise((resolve) => setTimeout(resolve));
      stop();
      return names;
    });
});
