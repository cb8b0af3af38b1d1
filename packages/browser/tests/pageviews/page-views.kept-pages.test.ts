import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { leavePage, openCachedPage, openPage } from '../support/open-page.ts';
import { type ReceivedEvent, type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { type Captured, startComparison } from '../support/start-comparison.ts';
import { startSite } from '../support/start-site.ts';

declare const posthog: import('../../src/index.ts').Client;

describe('capturing page views', () => {
  let browser: Browser;
  let ingest: ScriptedIngest;
  let site: TestServer;
  let visitor: BrowserContext;
  let token = 'phc_0';

  beforeAll(async () => {
    [browser, ingest, site] = await Promise.all([
      launchChromium({ keepsPages: true }),
      startScriptedIngest(),
      startSite({ body }),
    ]);
    visitor = await browser.newContext({ viewport: { width: 800, height: 600 } });
  });
  beforeEach(() => {
    // Each test has its own token and therefore its own visitor, because a closing page may still send events of an
    // earlier test.
    token = nextToken();
  });
  afterEach(() => Promise.all(visitor.pages().map((page) => page.close())));
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await ingest?.stop();
  });

  test('after init, captures a $pageview with the title, and adds its UUID to later events as $pageview_id', async () => {
    const page = await open('/shop?a=1');
    const [view] = await received('$pageview');
    expect(view?.properties).toMatchObject({ title: 'Shop', $pathname: '/shop', $pageview_id: view?.uuid });
    expect(view?.properties).not.toHaveProperty('$prev_pageview_id');

    expect(await page.evaluate(() => posthog.getPageViewId())).toBe(view?.uuid);
    await page.evaluate(() => posthog.capture('after', {}, { send_instantly: true }));
    const [after] = await received('after');
    expect(after?.properties).toMatchObject({ $pageview_id: view?.uuid });
    expect(after?.properties).not.toHaveProperty('title');
    expect(events('$pageview')).toHaveLength(1);
  });

  test('captures a $pageview after an identify call in the same task as init', async () => {
    await open('/shop', {}, `posthog.identify('somebody')`);
    const [view] = await received('$pageview');
    expect(view?.properties.distinct_id).toBe('somebody');
  });

  test('captures a $pageview when the page becomes visible, for example after prerendering', async () => {
    const page = await visitor.newPage();
    await page.addInitScript(() => {
      Object.defineProperty(document, 'visibilityState', {
        get: () => ((window as { seen?: boolean }).seen ? 'visible' : 'hidden'),
        configurable: true,
      });
    });
    await page.goto(`${site.url}/shop`);
    await start(page, { capture_pageview: 'history_change' }, '');
    await page.evaluate(() => {
      history.replaceState(null, '', '/en/shop');
      posthog.capture('before', {}, { send_instantly: true });
    });
    const [before] = await received('before');
    expect(before?.properties).not.toHaveProperty('$pageview_id');
    expect(events('$pageview')).toHaveLength(0);

    for (let times = 0; times < 2; times++) {
      await page.evaluate(() => {
        (window as { seen?: boolean }).seen = true;
        document.dispatchEvent(new Event('visibilitychange'));
      });
    }
    await page.evaluate(() => posthog.capture('end', {}, { send_instantly: true }));
    await received('end');
    expect(events('$pageview').map(({ properties }) => properties.$pathname)).toEqual(['/en/shop']);
  });

  test('if automatic capture is disabled, captures a $pageview only when the application does so', async () => {
    const page = await open('/shop', { capture_pageview: false });
    await page.evaluate(() => posthog.capture('$pageview', { own: 1 }, { send_instantly: true }));
    const [view] = await received('$pageview');
    expect(view?.properties).toMatchObject({ own: 1, title: 'Shop', $pageview_id: view?.uuid });
    expect(events('$pageview')).toHaveLength(1);
  });

  test('captures a $pageview when the visitor gives consent', async () => {
    const page = await open('/shop', { opt_out_capturing_by_default: true });
    const optedInAt = await page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const now = Date.now();
      posthog.opt_in_capturing();
      posthog.opt_in_capturing();
      posthog.capture('end', {}, { send_instantly: true });
      return now;
    });
    await received('end');
    const [view, ...more] = await received('$pageview');
    expect(Date.parse(view?.timestamp ?? '')).toBeGreaterThanOrEqual(optedInAt);
    expect(more).toEqual([]);
  });

  test('page views and page leaves have the same properties as in posthog-js', async () => {
    const comparison = await startComparison(browser);
    const { ours, reference } = await comparison.run({
      html: '<div style="height: 5000px"></div>',
      act: `const both = (name, properties) => [posthog, reference].forEach((one) => one.capture(name, properties));
        const rest = () => new Promise((resolve) => setTimeout(resolve, 100));
        const settle = new Promise((resolve) => addEventListener('scrollend', resolve, { once: true, capture: true }));
        both('$pageview');
        await rest();
        scrollTo({ top: 300, behavior: 'instant' });
        await settle;
        both('$pageview', { navigation_type: 'pushState', title: 'ignored' });
        await rest();
        both('$pageleave');`,
    });
    const values = (events: Captured) =>
      events.map(({ event, properties: { $prev_pageview_id, $prev_pageview_duration, title, ...rest } }) => ({
        ...rest,
        ...{ event, id: typeof $prev_pageview_id, duration: typeof $prev_pageview_duration, title: typeof title },
      }));
    expect(values(ours)).toEqual(values(reference));
    expect(ours.map(({ properties }) => properties.$prev_pageview_max_scroll)).toEqual([undefined, 300, 300]);
    await comparison.stop();
  });

  describe('page views with history_change', () => {
    const routes: [string, string, object | null][] = [
      [
        'pushState',
        `history.pushState({}, '', '/next'); document.title = 'Next'`,
        { $pathname: '/next', title: 'Next', navigation_type: 'pushState' },
      ],
      [
        'replaceState',
        `history.replaceState(null, '', '/other')`,
        { $pathname: '/other', title: 'Shop', navigation_type: 'replaceState' },
      ],
      [
        'a complete address',
        `history.pushState(null, '', new URL('/whole', location.href))`,
        { $pathname: '/whole', navigation_type: 'pushState' },
      ],
      [
        'back',
        `history.pushState({}, '', '/next'); history.back(); new Promise((resolve) => addEventListener('popstate', () => resolve()))`,
        { $pathname: '/start', navigation_type: 'popstate' },
      ],
      ['another query', `history.pushState({}, '', '?q=2')`, null],
      ['another fragment', `location.hash = 'part'; history.pushState({}, '', '#b')`, null],
      ['no address', `history.pushState({ a: 1 }, '')`, null],
      ['the same path', `history.replaceState({}, '', '/start')`, null],
    ];
    test.each(routes)('captures a $pageview only when the path changes: %s', async (_, change, expected) => {
      const page = await open('/start', { capture_pageview: 'history_change' });
      const [first] = await received('$pageview');
      await page.evaluate(change);
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      await page.evaluate(() => posthog.flush());
      await page.evaluate(() => posthog.capture('end', {}, { send_instantly: true }));
      const [end] = await received('end');
      const views = events('$pageview').filter(({ uuid }) => uuid !== first?.uuid);
      const last = views.at(-1);
      if (expected === null) return expect(views).toHaveLength(0);
      expect(last?.properties).toMatchObject({ ...expected, $pageview_id: last?.uuid });
      expect(views[0]?.properties).toMatchObject({ $prev_pageview_id: first?.uuid, $prev_pageview_pathname: '/start' });
      expect(end?.properties.$pageview_id).toBe(last?.uuid);
    });

    test('captures each path if several changes happen in one task', async () => {
      const page = await open('/start', { capture_pageview: 'history_change' });
      await received('$pageview');
      await page.evaluate(() => {
        history.pushState({}, '', '/a');
        history.replaceState({ scroll: 1 }, '');
        document.title = 'A';
        history.pushState({}, '', '/b');
        document.title = 'B';
      });
      await page.evaluate(() => posthog.flush());
      const views = await received('$pageview', 3);
      expect(views.map(({ properties }) => [properties.$pathname, properties.title])).toEqual([
        ['/start', 'Shop'],
        ['/a', 'A'],
        ['/b', 'B'],
      ]);
    });

    test('captures one $pageview, with the new URL, if an application changes its URL at the start', async () => {
      const page = await open('/', { capture_pageview: 'history_change' }, `history.replaceState(null, '', '/en')`);
      await received('$pageview');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
      await page.evaluate(() => history.pushState(null, '', '/en/cart'));
      await page.evaluate(() => posthog.capture('end', {}, { send_instantly: true }));
      await received('end');
      expect(events('$pageview').map(({ properties }) => properties.$pathname)).toEqual(['/en', '/en/cart']);
    });

    test('does not change the results of history methods', async () => {
      const page = await open('/start', { capture_pageview: 'history_change' });
      const thrown = await page.evaluate(() => {
        history.pushState({ a: 1 }, 'x', '/a');
        try {
          history.pushState({}, '', 'https://elsewhere.example/');
        } catch (error) {
          return `${JSON.stringify(history.state)} ${(error as Error).name}`;
        }
        return 'nothing';
      });
      expect(thrown).toBe('{"a":1} SecurityError');
    });

    test('captures no $pageview for a URL change if the option selects only page loads', async () => {
      const page = await open('/start', { capture_pageview: true });
      await received('$pageview');
      await page.evaluate(() => history.pushState({}, '', '/next'));
      await page.evaluate(() => posthog.flush());
      expect(events('$pageview')).toHaveLength(1);
    });
  });

  describe('capturing $pageleave', () => {
    test('sends $pageleave by beacon with duration and scroll depth', async () => {
      const page = await open('/long');
      const [view] = await received('$pageview');
      await page.evaluate(
        () =>
          new Promise<void>((resolve) => {
            addEventListener('scrollend', () => resolve(), { once: true, capture: true });
            scrollTo({ top: 1000, behavior: 'instant' });
          }),
      );
      await page.evaluate(
        () =>
          new Promise<void>((resolve) => {
            addEventListener('scrollend', () => resolve(), { once: true, capture: true });
            scrollTo({ top: 400, behavior: 'instant' });
          }),
      );
      await leavePage(page);
      const [pageLeave] = await received('$pageleave');
      const heights = { $prev_pageview_last_content: 1000, $prev_pageview_max_content: 1600 };
      expect(pageLeave?.properties).toMatchObject({
        $prev_pageview_id: view?.uuid,
        $prev_pageview_pathname: '/long',
        $prev_pageview_last_scroll: 400,
        $prev_pageview_max_scroll: 1000,
        $prev_pageview_last_scroll_percentage: 400 / 2400,
        $prev_pageview_max_scroll_percentage: 1000 / 2400,
        ...heights,
        $prev_pageview_last_content_percentage: 1000 / 3000,
        $prev_pageview_max_content_percentage: 1600 / 3000,
        $pageview_id: view?.uuid,
      });
      expect(pageLeave?.properties.$prev_pageview_duration).toBeGreaterThan(0);
      expect(pageLeave?.properties).not.toHaveProperty('title');
    });

    test('reports a scroll depth of 100 % if the page does not scroll', async () => {
      const page = await open('/short');
      await received('$pageview');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
      await leavePage(page);
      const [pageLeave] = await received('$pageleave');
      expect(pageLeave?.properties).toMatchObject({
        $prev_pageview_max_scroll: 0,
        $prev_pageview_max_scroll_percentage: 1,
      });
    });

    const wishes: [string, object, boolean][] = [
      ['by default', {}, true],
      ['never', { capture_pageleave: false }, false],
      ['without page views', { capture_pageview: false }, false],
      ['always', { capture_pageview: false, capture_pageleave: true }, true],
      ['with history_change', { capture_pageview: 'history_change' }, true],
      ['without batching', { request_batching: false }, true],
    ];
    test.each(wishes)('captures $pageleave only if enabled: %s', async (_, options, isCaptured) => {
      const page = await open('/shop', options);
      await page.evaluate(() => posthog.capture('queued'));
      // If a beacon is lost, the site's next page sends the events of the beacon.
      await init(page, '/next');
      await received('queued');
      if (isCaptured) expect((await received('$pageleave'))[0]?.properties.$pathname).toBe('/shop');
      else expect(events('$pageleave')).toHaveLength(0);
    });

    test('captures $pageleave on each visit to a page in the back/forward cache, after a new $pageview', async () => {
      const page = await openCachedPage(async () => {
        token = nextToken();
        const visit = await openPage(visitor, `${site.url}/kept`);
        await start(visit.page, {}, '');
        await received('$pageview');
        return visit;
      }, `${site.url}/between`);
      const views = await received('$pageview', 2);
      expect(views[1]?.properties).toMatchObject({ $pathname: '/kept', $pageview_id: views[1]?.uuid });
      expect(views[1]?.properties).not.toHaveProperty('$prev_pageview_id');
      await received('$pageleave');
      await leavePage(page);
      const leaves = await received('$pageleave', 2);
      expect(leaves.map(({ properties }) => properties.$prev_pageview_id)).toEqual(views.map(({ uuid }) => uuid));
    });

    test('$pageleave does not refer to a page view from an earlier session', async () => {
      const page = await open('/shop');
      await received('$pageview');
      await page.evaluate(() => {
        posthog.reset();
        posthog.capture('$pageview', {}, { send_instantly: true });
      });
      const views = await received('$pageview', 2);
      expect(views[1]?.properties.$session_id).not.toBe(views[0]?.properties.$session_id);
      expect(views[1]?.properties).not.toHaveProperty('$prev_pageview_id');
    });
  });

  async function open(path: string, options: object = {}, then = ''): Promise<Page> {
    const { page } = await openPage(visitor, `${site.url}${path}`);
    await start(page, options, then);
    return page;
  }

  async function init(page: Page, path: string): Promise<void> {
    await page.goto(`${site.url}${path}`);
    await start(page, {}, '');
  }

  async function start(page: Page, options: object, then: string): Promise<void> {
    await page.waitForFunction('window.posthog');
    const given = { api_host: ingest.url, opt_out_useragent_filter: true, ...options };
    await page.evaluate(`posthog.init('${token}', ${JSON.stringify(given)}); ${then}`);
  }

  const nextToken = () => `phc_${Number(token.slice(4)) + 1}`;

  /** An event may be sent twice with the same UUID, but the service stores it only once. */
  const events = (name: string): ReceivedEvent[] => {
    const own = ingest.events(name).filter(({ properties }) => properties.token === token);
    return [...new Map(own.map((event) => [event.uuid, event])).values()];
  };

  const received = (event: string, count = 1): Promise<ReceivedEvent[]> =>
    eventually(
      () => {
        const found = events(event);
        if (found.length < count) throw new Error(`${found.length} of ${count}`);
        return found;
      },
      { what: event },
    );
});

const body = `<div id="stage"></div><script>
  if (location.pathname === '/long') document.body.innerHTML = '<div style="height:3000px"></div>';
  document.body.style.margin = 0;
</script>`;
