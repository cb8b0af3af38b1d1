import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { openFirefox } from '@millrace/testing/other-browsers/firefox';
import type { DrivenBrowser, Tab } from '@millrace/testing/other-browsers/tab';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';

/** Tests browser behavior that may differ in Firefox. All other tests use Chromium. */
let firefox: DrivenBrowser;
let ingest: ScriptedIngest;
let site: TestServer;
let tab: Tab;

beforeAll(async () => {
  firefox = await openFirefox();
});
afterAll(() => firefox?.close());
beforeEach(async () => {
  // Each test uses its own site, because storage belongs to a site.
  const body =
    '<main class="shelf"><a href="#more">More</a><button data-attr="buy" class="b a">Buy <span>rye</span></button></main>';
  [ingest, site] = await Promise.all([startScriptedIngest(), startSite({ body })]);
  ingest.flags = { 'price-test': 'blue' };
  tab = await open();
});
afterEach(async () => {
  await tab.close();
  await Promise.all([ingest.stop(), site.stop()]);
});

async function open(): Promise<Tab> {
  const opened = await firefox.openTab(site.url);
  await eventually(() => opened.run('return window.posthog !== undefined'));
  await start(opened);
  return opened;
}
const start = (where: Tab) =>
  where.run(`posthog.init('phc_test', {
    api_host: '${ingest.url}', opt_out_useragent_filter: true, feature_flag_request_timeout_ms: ${patienceMs},
  })`);
const received = (name: string, count = 1) =>
  eventually(() => {
    const events = ingest.events(name);
    expect(events.length).toBeGreaterThanOrEqual(count);
    return events as [(typeof events)[0], ...typeof events];
  });
const queueRecords = (where: Tab) =>
  where.run<string[]>(`return Object.keys(localStorage).filter((name) => name.includes('_queue_'))`);

test('sends compressed events with browser and page properties, and removes them from the queue', async () => {
  const uuid = await tab.run(`return posthog.capture('order placed', { total: 42 }, { send_instantly: true }).uuid`);
  const [event] = await received('order placed');
  expect(event).toMatchObject({
    uuid,
    properties: { total: 42, $browser: 'Firefox', $os: 'Linux', $current_url: `${site.url}/`, $lib: 'web' },
  });
  expect(event.properties.$timezone).toEqual(expect.any(String));
  const [request] = ingest.requests.filter(({ method }) => method === 'POST');
  expect(request?.headers['content-type']).toBe('text/plain');
  expect(request?.bytes).toBeLessThan(JSON.stringify(request?.body).length);
  await received('$pageview');
  await eventually(async () => expect(await queueRecords(tab)).toEqual([]));
});

test('requests flags, passes them to listeners, and stores them for the next page', async () => {
  const flag = await tab.run(`return new Promise((resolve) => {
    posthog.onFeatureFlags(() => resolve(posthog.getFeatureFlag('price-test')));
  })`);
  expect(flag).toBe('blue');
  await received('$feature_flag_called');
  await tab.goto(`${site.url}/next`);
  await eventually(() => tab.run('return window.posthog !== undefined'));
  await start(tab);
  expect(await tab.run(`return posthog.getFeatureFlag('price-test')`)).toBe('blue');
});

test('captures a click with its element chain, and does not mark a link to the same site as external', async () => {
  await eventually(async () => {
    await tab.click('button');
    expect(ingest.events('$autocapture')).not.toEqual([]);
  });
  const [{ properties }] = await received('$autocapture');
  expect(properties.$el_text).toBe('Buy rye');
  expect(properties.$elements_chain).toContain(
    'button.a.b:attr__class="b a"attr__data-attr="buy"nth-child="2"nth-of-type="1"text="Buy rye";main.shelf:',
  );
  await tab.click('a');
  await tab.run('return posthog.flush()');
  const link = await eventually(
    () => ingest.events('$autocapture').find(({ properties }) => properties.$el_text === 'More') ?? false,
  );
  expect(link.properties).not.toHaveProperty('$external_click_url');
});

test('sends queued events by beacon when the visitor leaves, and again from the next page', async () => {
  await received('$pageview');
  const copies = (uuid: string) => ingest.events('last words').filter((event) => event.uuid === uuid).length;
  async function comeBack(): Promise<void> {
    await tab.goto(site.url);
    await eventually(() => tab.run('return window.posthog !== undefined'));
    await start(tab);
  }
  const leaves = () => ingest.events('$pageleave').length;
  const uuid = await eventually(async () => {
    const before = leaves();
    // Prevent timers from running before the visitor leaves the page, because a busy browser is slow.
    const captured = await tab.run<string>(`setTimeout = () => 0; return posthog.capture('last words').uuid`);
    await tab.goto('about:blank');
    const hasArrived = () => copies(captured) > 0 && leaves() > before;
    if (await eventually(hasArrived, { timeoutMs: 5000 }).catch(() => false)) return captured;
    // A busy Firefox sometimes accepts a beacon but does not send it.
    await comeBack();
    await eventually(async () => expect(await queueRecords(tab)).toEqual([]));
    return false;
  });
  expect(copies(uuid)).toBe(1);
  await comeBack();
  await eventually(() => copies(uuid) === 2);
  await eventually(async () => expect(await queueRecords(tab)).toEqual([]));
});

test("shares the visitor between tabs: if one tab identifies a user, the other tab's events belong to this user", async () => {
  const other = await open();
  // Once a tab has loaded the flags, it has also stored them.
  for (const one of [tab, other]) await eventually(() => one.run('return posthog.featureFlags.hasLoadedFlags'));
  await tab.run(`posthog.register({ shop: 'north' }); posthog.identify('ada')`);
  await eventually(() => other.run(`return localStorage.getItem('ph_phc_test_posthog').includes('"ada"')`));
  const seen = await other.run(`
    const { distinct_id, shop, $session_id } = posthog.capture('in the other tab').properties;
    return [distinct_id, shop, $session_id === posthog.get_session_id()];
  `);
  expect(seen).toEqual(['ada', 'north', true]);
  await eventually(() => {
    const bodies = ingest.requests.filter(({ path }) => path === '/flags/').map(({ body }) => body as object);
    expect(bodies.filter((body) => 'distinct_id' in body && body.distinct_id === 'ada')).toHaveLength(2);
  });
  await other.close();
  await received('in the other tab');
});
