import { launchChromium } from '@millrace/testing/launch-chromium';
import type { BrowserContext, Page } from 'playwright-core';
import type { InitOptions } from '../../src/client/client.ts';
import { type Lab, startLab } from '../support/start-lab.ts';
import { waitForSharedStorage } from '../support/store-shared.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab({
    // The origin of the sandboxed frame is null.
    headers: { 'access-control-allow-origin': '*' },
  });
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

const blocked: [what: string, script: string][] = [
  [
    'localStorage and sessionStorage throw',
    `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } })`,
  ],
  [
    'cookies throw',
    `Object.defineProperty(Document.prototype, 'cookie', { get() { throw new DOMException('denied'); }, set() { throw new DOMException('denied'); } })`,
  ],
  [
    'everything throws',
    `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('denied'); } });
     Object.defineProperty(Document.prototype, 'cookie', { get() { throw new DOMException('denied'); }, set() { throw new DOMException('denied'); } })`,
  ],
  [
    'storage is null',
    `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { value: null })`,
  ],
  ['storage is full', `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`],
  ['storage forgets', `Storage.prototype.setItem = () => {}; Storage.prototype.getItem = () => null`],
];

test.each(blocked)('%s: the library works without storage', async (_, script) => {
  const visitor = await lab.browser.newContext();
  await visitor.addInitScript(script);
  const { page, complaints } = await lab.visit({ visitor });
  const seen = await page.evaluate(() => {
    const { posthog } = window;
    posthog.register({ plan: 'pro' });
    posthog.identify('user-1');
    posthog.group('company', 'acme');
    const [one, two] = [posthog.capture('one'), posthog.capture('two')];
    return { one: one?.properties, two: two?.properties, consent: posthog.get_explicit_consent_status() };
  });
  expect(seen.two).toMatchObject({ plan: 'pro', distinct_id: 'user-1', $groups: { company: 'acme' } });
  expect(seen.two?.$session_id).toBe(seen.one?.$session_id);
  expect(seen.two?.$window_id).toBe(seen.one?.$window_id);
  expect(complaints).toEqual([]);
});

test('the library works when storage becomes full', async () => {
  const { page, complaints } = await lab.visit();
  const seen = await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    window.posthog.register({ plan: 'pro' });
    return window.posthog.capture('one')?.properties;
  });
  expect(seen).toMatchObject({ plan: 'pro' });
  expect(complaints).toEqual([]);
});

test.each([
  '{broken',
  '[]',
  '"text"',
  'null',
  '7',
  '{"$sesid":"text","distinct_id":"kept"}',
  '{"$sesid":[null,null,null],"distinct_id":"kept"}',
])('replaces invalid parts of the stored value %s', async (text) => {
  const visitor = await lab.browser.newContext();
  await visitor.addInitScript((stored) => {
    localStorage.setItem('ph_phc_test_posthog', stored);
    sessionStorage.setItem('ph_phc_test_posthog', stored);
    sessionStorage.setItem('ph_phc_test_window_id', stored);
  }, text);
  const { page, complaints } = await lab.visit({ visitor });
  const properties = await page.evaluate(() => window.posthog.capture('one')?.properties);
  expect(properties?.distinct_id).toEqual(text.includes('kept') ? 'kept' : expect.stringMatching(/^[\da-f-]{36}$/));
  expect(properties?.$session_id).toMatch(/^[\da-f-]{36}$/);
  expect(complaints).toEqual([]);
});

function idOf(page: Page) {
  return page.evaluate(() => window.posthog.get_distinct_id());
}

async function idAfter(visitor: BrowserContext, options: InitOptions = {}) {
  return idOf((await lab.visit({ visitor, options })).page);
}

const keeping: [persistence: NonNullable<InitOptions['persistence']>, places: string[], isKept: boolean][] = [
  ['localStorage+cookie', ['local', 'cookie'], true],
  ['localStorage', ['local'], true],
  ['cookie', ['cookie'], true],
  ['sessionStorage', ['tab'], false],
  ['memory', [], false],
];

test.each(keeping)('persistence %s stores the visitor in %j', async (persistence, places, isKept) => {
  const visitor = await lab.browser.newContext();
  const { page } = await lab.visit({ visitor, options: { persistence } });
  const id = await idOf(page);
  await page.evaluate(() => window.posthog.capture('one'));
  // Exclude the queue's records, which have other names.
  const found = await page.evaluate((wanted) => {
    const name = 'ph_phc_test_posthog';
    const texts = { local: localStorage.getItem(name), tab: sessionStorage.getItem(name), cookie: document.cookie };
    return Object.entries(texts)
      .filter(([, text]) => text?.includes(wanted))
      .map(([place]) => place);
  }, id);
  expect(found.sort()).toEqual([...places].sort());
  expect((await idAfter(visitor, { persistence })) === id).toBe(isKept);
});

test('disable_persistence stores nothing', async () => {
  const { page } = await lab.visit({ options: { disable_persistence: true } });
  await page.evaluate(() => window.posthog.capture('one'));
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie)).not.toContain('distinct_id');
});

test('recognizes the visitor if only the cookie or only localStorage remains', async () => {
  const visitor = await lab.browser.newContext();
  const { page } = await lab.visit({ visitor });
  const id = await idOf(page);
  await visitor.clearCookies();
  expect(await idAfter(visitor)).toBe(id);
  const another = await lab.visit({ visitor });
  await another.page.evaluate(() => {
    window.posthog.register({ plan: 'pro' });
    localStorage.clear();
  });
  expect(await idAfter(visitor)).toBe(id);
});

test('stores the values that subdomains share in a cookie that is valid for the entire site for one year', async () => {
  const visitor = await lab.browser.newContext();
  const { page } = await lab.visit({ visitor });
  await page.evaluate(() => {
    window.posthog.register({ large: 'x'.repeat(10_000) });
    window.posthog.capture('one');
  });
  const cookie = (await visitor.cookies()).find(({ name }) => name === 'ph_phc_test_posthog');
  expect(cookie).toMatchObject({ path: '/', sameSite: 'Lax', secure: false, domain: '127.0.0.1' });
  expect(cookie?.expires).toBeCloseTo(Date.now() / 1000 + 365 * 86_400, -4);
  expect(Object.keys(JSON.parse(decodeURIComponent(cookie?.value ?? ''))).sort()).toEqual(
    ['$device_id', '$initial_person_info', '$sesid', '$user_state', 'distinct_id'].sort(),
  );
});

test('shares the visitor between subdomains, unless cross_subdomain_cookie is false', async () => {
  const { port } = new URL(lab.site.url);
  const browser = await launchChromium({ more: ['--host-resolver-rules=MAP *.example.test 127.0.0.1'] });
  for (const [isShared, name] of [
    [true, 'phc_shared'],
    [false, 'phc_apart'],
  ] as const) {
    const visitor = await browser.newContext();
    const ids = [];
    for (const host of ['a.shop.example.test', 'b.shop.example.test']) {
      const page = await visitor.newPage();
      await page.goto(`http://${host}:${port}/shop`);
      await page.waitForFunction(() => window.posthog !== undefined);
      ids.push(
        await page.evaluate(
          ([token, host_, cross]) => {
            window.posthog.init(token as string, {
              api_host: host_ as string,
              cross_subdomain_cookie: cross as boolean,
            });
            return window.posthog.get_distinct_id();
          },
          [name, lab.ingest.url, isShared],
        ),
      );
      const domains = (await visitor.cookies()).map(({ domain }) => domain);
      if (isShared) expect(domains).toContain('.example.test');
      expect((await visitor.cookies()).filter((cookie) => cookie.name.startsWith('mr_probe'))).toEqual([]);
    }
    expect(ids[0] === ids[1]).toBe(isShared);
    await visitor.close();
  }
  await browser.close();
});

test('shares super properties and IDs between tabs without losing any', async () => {
  const visitor = await lab.browser.newContext();
  // Turn off flags, because two tabs that store data at the same time could overwrite each other's changes.
  const options = { advanced_disable_flags: true };
  const [one, two] = [await lab.visit({ visitor, options }), await lab.visit({ visitor, options })];
  await one.page.evaluate(() => window.posthog.register({ a: 1 }));
  await waitForSharedStorage(one.page, two.page);
  await two.page.evaluate(() => window.posthog.register({ b: 2 }));
  await waitForSharedStorage(two.page, one.page);
  await one.page.evaluate(() => window.posthog.identify('user-1'));
  await waitForSharedStorage(one.page, two.page);
  const both = { a: 1, b: 2, distinct_id: 'user-1' };
  for (const { page } of [one, two])
    expect(await page.evaluate(() => window.posthog.capture('one')?.properties)).toMatchObject(both);
});

test('captures events in an iframe without storage', async () => {
  const { page, complaints } = await lab.visit({ isStarted: false });
  const seen = await page.evaluate(
    ([site, api_host]) =>
      new Promise((resolve) => {
        addEventListener('message', ({ data }) => resolve(data));
        const frame = document.createElement('iframe');
        frame.setAttribute('sandbox', 'allow-scripts');
        frame.srcdoc = `<script type="module">
          import posthog from '${site}/millrace.js';
          posthog.init('phc_frame', { api_host: '${api_host}', opt_out_useragent_filter: true });
          posthog.register({ plan: 'pro' });
          const { properties } = posthog.capture('framed');
          parent.postMessage(properties, '*');
        </script>`;
        document.body.append(frame);
      }),
    [lab.site.url, lab.ingest.url],
  );
  expect(seen).toMatchObject({ plan: 'pro', token: 'phc_frame', $session_id: expect.any(String) });
  expect(complaints).toEqual([]);
});
