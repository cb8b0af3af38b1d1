import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, Page } from 'playwright-core';
import { leavePage, openPage } from '../support/open-page.ts';
import { type ReceivedEvent, type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { waitForSettings } from '../support/settings-known.ts';
import { startSite } from '../support/start-site.ts';

declare const posthog: import('../../src/index.ts').Client;

type Vital = Record<string, unknown> & { attribution?: Record<string, unknown> };

describe('capturing web vitals', () => {
  let browser: Browser;
  let ingest: ScriptedIngest;
  let site: TestServer;

  beforeAll(async () => {
    [browser, site] = await Promise.all([launchChromium(), startSite({ body })]);
  });
  // Use a separate host for each test, because the previous test's page may still send its last values.
  beforeEach(async () => {
    ingest = await startScriptedIngest();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((visitor) => visitor.close()));
    await ingest.stop();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  test('captures the paints and, when the visitor leaves, the slowest interaction and the layout shifts', async () => {
    const page = await open({ capture_performance: { web_vitals: true } });
    await page.click('#slow');
    await page.waitForFunction('window.isShifted');
    await leavePage(page);
    const measured = await vitals(4);

    const paints = ['FCP', 'LCP'].map((name) => measured[name]);
    for (const paint of paints) expect(paint?.value).toBeGreaterThan(0);
    expect(measured.LCP?.attribution).toMatchObject({ target: 'html>body>h1.title' });
    expect(measured.INP).toMatchObject({ attribution: { interactionTarget: '#slow', interactionType: 'pointer' } });
    expect(measured.INP?.value).toBeGreaterThanOrEqual(120);
    expect(measured.INP?.attribution?.processingDuration).toBeGreaterThanOrEqual(110);
    expect(measured.CLS?.value).toBeGreaterThan(0);
    for (const [name, vital] of Object.entries(measured)) {
      expect(vital).toMatchObject({ name, delta: vital.value, $current_url: `${site.url}/` });
      expect(['good', 'needs-improvement', 'poor']).toContain(vital.rating);
      expect(vital.$session_id).toMatch(/^[\da-f-]{36}$/);
    }
  });

  test('sends web vitals after five seconds, even if some metrics are missing', async () => {
    await open({ capture_performance: true });
    const measured = await vitals(1);
    expect(Object.keys(measured)).toContain('FCP');
  });

  test('captures only the metrics that the settings enable', async () => {
    const settings = { web_vitals: true, web_vitals_allowed_metrics: ['FCP'] };
    await open({}, { millrace: settings });
    expect(Object.keys(await vitals(1))).toEqual(['FCP']);
  });

  test('masks personal data in the URLs of web vitals', async () => {
    const page = await open({ capture_performance: true, mask_personal_data_properties: true }, {}, '/?gclid=secret');
    await leavePage(page);
    expect((await vitals(1)).FCP).toMatchObject({ $current_url: `${site.url}/?gclid=<masked>` });
    expect(JSON.stringify(ingest.events('$web_vitals'))).not.toContain('secret');
  });

  const none: [string, object, object][] = [
    ['nothing enables them', {}, {}],
    ['the application disables performance', { capture_performance: false }, { millrace: { web_vitals: true } }],
    [
      'the application disables web vitals',
      { capture_performance: { web_vitals: false } },
      { millrace: { web_vitals: true } },
    ],
    [
      'the application allows no metrics',
      { capture_performance: { web_vitals: true, web_vitals_allowed_metrics: [] } },
      {},
    ],
  ];
  test.each(none)('captures no web vitals if %s', async (_, options, config) => {
    const page = await open(options, config);
    await page.click('#slow');
    await page.evaluate(() => posthog.capture('queued'));
    await leavePage(page);
    await eventually(() => ingest.events('queued').length > 0);
    expect(ingest.events('$web_vitals')).toHaveLength(0);
  });

  test('captures and logs nothing if the page cannot measure web vitals, for example in a test runner', async () => {
    const { page, complaints } = await openPage(await browser.newContext(), site.url);
    await page.waitForFunction('window.posthog');
    const given = { api_host: ingest.url, opt_out_useragent_filter: true, capture_performance: true };
    await page.evaluate(`delete window.PerformanceObserver; performance.getEntriesByType = undefined;
      posthog.init('phc_test', ${JSON.stringify({ ...given, feature_flag_request_timeout_ms: patienceMs })})`);
    await waitForSettings(page);
    expect(complaints).toEqual([]);
  });

  async function open(options: object, config: object = {}, path = ''): Promise<Page> {
    Object.assign(ingest.config, { millrace: { web_vitals: false, web_vitals_allowed_metrics: null } }, config);
    const { page } = await openPage(await browser.newContext(), `${site.url}${path}`);
    await page.waitForFunction('window.posthog');
    const given = {
      ...{ api_host: ingest.url, opt_out_useragent_filter: true, capture_pageview: false },
      ...{ feature_flag_request_timeout_ms: patienceMs, ...options },
    };
    await page.evaluate(`posthog.init('phc_test', ${JSON.stringify(given)})`);
    await waitForSettings(page);
    // Wait until the page has been drawn. Otherwise, a click or leaving the page would keep the browser from reporting
    // a paint.
    await page.evaluate(() => {
      const painted = (type: string) =>
        new Promise((resolve) => new PerformanceObserver(resolve).observe({ type, buffered: true }));
      return Promise.all(['paint', 'largest-contentful-paint'].map(painted)).then(() => {});
    });
    return page;
  }

  const vitals = (count: number): Promise<Record<string, Vital>> =>
    eventually(() => {
      const measured = Object.fromEntries(ingest.events('$web_vitals').flatMap(ofEvent));
      return Object.keys(measured).length >= count && measured;
    });

  function ofEvent({ properties }: ReceivedEvent): [string, Vital][] {
    const names = Object.keys(properties).flatMap((name) => /^\$web_vitals_(\w+)_event$/.exec(name)?.[1] ?? []);
    return names.map((name) => {
      const vital = properties[`$web_vitals_${name}_event`] as Vital;
      expect(properties[`$web_vitals_${name}_value`]).toBe(vital.value);
      return [name, vital];
    });
  }
});

const body = `<h1 class="title" style="font-size: 60px">A page to look at</h1><button id="slow">Slow</button><div id="after">after</div>
<script>
  const work = () => {
    const end = performance.now() + 120;
    while (performance.now() < end);
  };
  // In a busy browser, any of the three events may be the slowest.
  for (const type of ['pointerdown', 'pointerup', 'click']) document.querySelector('#slow').addEventListener(type, work);
  document.querySelector('#slow').addEventListener('click', () => {
    // Wait more than 500 ms after the click, because a movement soon after a click does not count as a layout shift.
    setTimeout(() => {
      new PerformanceObserver(() => (window.isShifted = true)).observe({ type: 'layout-shift', buffered: true });
      document.querySelector('.title').style.marginTop = '200px';
    }, 800);
  });
</script>`;
