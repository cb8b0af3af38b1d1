import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLibrary } from '@millrace/browser/bundle';
import { buildPageSnippet } from '@millrace/browser/page-snippet';
import { createTestTenant, startServer, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { readTopics, type TopicReader } from '../testing/topic-reader.ts';
import { readBrowserLibrary } from './library.ts';

let directory: string;
let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;
let browser: Browser;
let site: TestServer;
let page = '';
/** The `Content-Security-Policy` header of the site's pages. */
let policy = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-library-'));
  await writeLibrary(directory, { isQuick: true });
  const library = await readBrowserLibrary(directory);
  if (library === null) throw new Error('The library was not written.');
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway({ library });
  reader = await readTopics(fixture.log, [fixture.topics.live]);
  browser = await launchChromium();
  site = await startServer((request, response) => {
    const isScript = request.url === '/shop.js';
    response.setHeader('content-security-policy', policy);
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? "posthog.capture('from a script of the site', { total: 42 });" : page);
  });
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  await reader.stop();
  await fixture.stop();
  await rm(directory, { recursive: true });
});

async function visit() {
  const tab = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  tab.on('request', (request) => {
    if (request.url().startsWith(gateway.url)) asked.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  tab.on('pageerror', (error) => complaints.push(String(error)));
  await tab.goto(`http://localhost:${site.port}/`);
  return { tab, asked, complaints };
}

/**
 * Copied from the documentation of posthog-js (MIT license), which showed this snippet for years. Many pages still
 * contain it.
 */
const pastedSnippet = `!function(t,e){var o,n,p,r;e.__SV||(window.posthog=e,e._i=[],e.init=function(i,s,a){function g(t,e){var o=e.split(".");2==o.length&&(t=t[o[0]],e=o[1]),t[e]=function(){t.push([e].concat(Array.prototype.slice.call(arguments,0)))}}(p=t.createElement("script")).type="text/javascript",p.async=!0,p.src=s.api_host+"/static/array.js",(r=t.getElementsByTagName("script")[0]).parentNode.insertBefore(p,r);var u=e;for(void 0!==a?u=e[a]=[]:a="posthog",u.people=u.people||[],u.toString=function(t){var e="posthog";return"posthog"!==a&&(e+="."+a),t||(e+=" (stub)"),e},u.people.toString=function(){return u.toString(1)+".people (stub)"},o="capture identify alias people.set people.set_once set_config register register_once unregister opt_out_capturing has_opted_out_capturing opt_in_capturing reset isFeatureEnabled onFeatureFlags getFeatureFlag getFeatureFlagPayload reloadFeatureFlags group updateEarlyAccessFeatureEnrollment getEarlyAccessFeatures getActiveMatchingSurveys getSurveys".split(" "),n=0;n<o.length;n++)g(u,o[n]);e._i.push([i,s,a])},e.__SV=1)}(document,window.posthog||[]);`;

const html = (head: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head><body></body></html>`;

test("a page with PostHog's snippet loads the library, which then sends all earlier calls", async () => {
  const { token } = await createTestTenant(fixture.database, { plan: 'full' });
  policy = '';
  page = html(`<script>${pastedSnippet}
    posthog.init('${token}', { api_host: '${gateway.url}', opt_out_useragent_filter: true, capture_pageview: false });
    posthog.capture('before the library', { total: 42 });
    posthog.register({ shop: 'demo' });
    posthog.identify('ada', { plan: 'pro' });
    posthog.people.set({ email: 'ada@example.com' });
    posthog.onFeatureFlags(function () { posthog.capture('flags are there'); });
  </script>`);
  const { complaints } = await visit();
  const events = await reader.events(token, 4);
  const byName = Object.fromEntries(events.map((event) => [event.event, event]));
  expect(byName).toMatchObject({
    $identify: { distinct_id: 'ada', $set: { plan: 'pro' } },
    // As in posthog-js, person properties are sent before `identify`, so the event is about the visitor.
    $set: { properties: { $set: { email: 'ada@example.com' } } },
    'before the library': { distinct_id: 'ada', properties: { total: 42, shop: 'demo', $lib: 'web' } },
    'flags are there': { distinct_id: 'ada' },
  });
  expect(complaints).toEqual([]);
});

test('a page with the output of `millrace snippet` loads the library and the settings in one request', async () => {
  const { token } = await createTestTenant(fixture.database, { plan: 'full' });
  policy = '';
  const snippet = buildPageSnippet(token, { src: `${gateway.url}/array/${token}/array.js` });
  page = html(`${snippet}<script>
    posthog.set_config({ opt_out_useragent_filter: true });
    posthog.capture('before the library', { total: 42 });
  </script>`);
  const { asked, complaints } = await visit();
  const [event] = await reader.events(token, 1);
  expect(event).toMatchObject({ event: 'before the library', properties: { total: 42, $lib: 'web' } });
  expect(asked.filter((request) => /array|config|static/.test(request))).toEqual([`GET /array/${token}/array.js`]);
  expect(complaints).toEqual([]);
});

test('a page with a strict content security policy loads the library, and the browser checks its digests', async () => {
  const { token } = await createTestTenant(fixture.database, { plan: 'full' });
  const contents = (await (await fetch(`${gateway.url}/static/library.json`)).json()) as {
    version: string;
    versions: Record<string, Record<string, { integrity: string }>>;
  };
  const { version, versions } = contents;
  policy = `default-src 'none'; script-src 'self' ${gateway.url}; connect-src ${gateway.url}; require-trusted-types-for 'script'`;
  const pinned = `<script src="${gateway.url}/static/${version}/array.js" integrity="${versions[version]?.['array.js']?.integrity}" crossorigin="anonymous"></script>`;
  page = html(`${pinned}<script src="/shop.js"></script>`);
  expect((await visit()).complaints.filter((text) => /integrity|policy/i.test(text))).toEqual([]);

  page = html(`<script src="${gateway.url}/array/${token}/array.js"></script><script src="/shop.js"></script>`);
  const { tab, asked, complaints } = await visit();
  await tab.evaluate((key) => {
    const { posthog } = globalThis as unknown as {
      posthog: { init(token: string, options: object): void; capture(name: string): void };
    };
    posthog.init(key, { opt_out_useragent_filter: true, capture_pageview: false });
    posthog.capture('under a strict policy');
  }, token);
  const [event] = await reader.events(token, 1);
  expect(event?.event).toBe('under a strict policy');
  expect(complaints.filter((text) => /policy/i.test(text))).toEqual([]);
  expect(asked.filter((request) => request.includes('/array/'))).toEqual([`GET /array/${token}/array.js`]);
});
