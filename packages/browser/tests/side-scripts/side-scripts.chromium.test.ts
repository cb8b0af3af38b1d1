import { eventually, patienceMs, startServer, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, Page } from 'playwright-core';
import { type BundleName, bundleLibrary, readLibraryVersion } from '../../bundle/bundle-library.ts';
import type { InitOptions } from '../../src/client/client.ts';
import { leavePage, openPage } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { waitForSettings } from '../support/settings-known.ts';

declare const posthog: import('../../src/index.ts').Client;

interface Entry {
  type: string;
  value: string;
  mechanism: Record<string, unknown>;
  stacktrace?: { frames: { filename: string; function: string }[] };
}

let browser: Browser;
let ingest: ScriptedIngest;
let site: TestServer;
let version: string;
const codes: Record<string, string> = {};
/** The pages' content security policy. If empty, the pages have no policy. */
let policy = '';
/** The server waits for this promise before it sends a side script. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  version = await readLibraryVersion();
  for (const name of ['array.js', 'exceptions.js', 'web-vitals.js'] satisfies BundleName[])
    codes[`/static/${version}/${name}`] = (await bundleLibrary(name)).code;
  browser = await launchChromium();
  site = await startServer(async (request, response) => {
    const path = request.url ?? '';
    requested.push(path);
    if (/exceptions|web-vitals/.test(path)) await held;
    const code = codes[path];
    const isPage = path === '/';
    response.writeHead(isPage || code ? 200 : 404, {
      'content-type': isPage ? 'text/html' : 'text/javascript',
      'access-control-allow-origin': '*',
      ...(policy && { 'content-security-policy': policy }),
    });
    const nonce = /nonce-(\w+)/.exec(policy)?.[1] ?? '';
    response.end(
      isPage
        ? `<!doctype html><title>Shop</title><h1>Shop</h1><script nonce="${nonce}" src="/static/${version}/array.js"></script>`
        : code,
    );
  });
});
beforeEach(async () => {
  ingest = await startScriptedIngest();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((visitor) => visitor.close()));
  await ingest.stop();
  [policy, held] = ['', undefined];
  requested.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

const requested: string[] = [];
const sideScripts = () => requested.filter((path) => /exceptions|web-vitals/.test(path));

async function open(options: InitOptions = {}): Promise<Page> {
  const { page } = await openPage(await browser.newContext(), site.url);
  const given = {
    ...{ api_host: ingest.url, opt_out_useragent_filter: true, flushAt: 1 },
    ...{ feature_flag_request_timeout_ms: patienceMs, ...options },
  };
  await page.evaluate((all) => void posthog.init('phc_test', all as InitOptions), given as object);
  return page;
}

const exception = async () => {
  const event = await eventually(() => ingest.events('$exception')[0] ?? false);
  return { ...event, entry: (event.properties.$exception_list as Entry[])[0] };
};
function hold(): () => void {
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  return release;
}
const errors = { errorTracking: { autocaptureExceptions: true } };

test('loads no side scripts on a page that does not need them', async () => {
  const page = await open();
  await waitForSettings(page);
  await eventually(() => ingest.events('$pageview').length > 0);
  expect(await page.evaluate(() => [...document.scripts].map(({ src }) => new URL(src).pathname))).toEqual([
    `/static/${version}/array.js`,
  ]);
  expect(sideScripts()).toEqual([]);
});

test('loads the exceptions script at the first error, and captures the properties as of that moment', async () => {
  const release = hold();
  const page = await open();
  const [anonymous, before] = await page.evaluate(() => {
    function buy() {
      posthog.captureException(new TypeError('no such cart', { cause: new Error('why') }), { cart: 3 });
      posthog.captureException('again');
    }
    buy();
    const known = [posthog.get_distinct_id(), Date.now()] as const;
    posthog.identify('ada');
    return known;
  });
  await eventually(() => ingest.events('$identify').length > 0);
  release();
  const { entry, timestamp, properties } = await exception();
  expect([properties.distinct_id, properties.cart]).toEqual([anonymous, 3]);
  expect(new Date(timestamp).getTime()).toBeLessThanOrEqual(before);
  expect(entry).toMatchObject({ type: 'TypeError', value: 'no such cart', mechanism: { handled: true } });
  expect(entry?.stacktrace?.frames.map((frame) => frame.function)).toContain('buy');
  await eventually(() => ingest.events('$exception').length === 2);
  expect(sideScripts()).toEqual([`/static/${version}/exceptions.js`]);
  // The side script is loaded when this call returns.
  const exceptionList = await page.evaluate(
    () => posthog.captureException(new Error('later'))?.properties.$exception_list,
  );
  expect(exceptionList).toMatchObject([{ value: 'later', stacktrace: { frames: expect.any(Array) } }]);
  await eventually(() => ingest.events('$exception').length === 3);
});

test('captures uncaught errors from the start of the page if the settings enable this', async () => {
  ingest.config = errors;
  const release = hold();
  const page = await open();
  await page.evaluate(() => void setTimeout(() => Object(undefined).shop.open()));
  await eventually(() => sideScripts().length > 0);
  await page.evaluate(() => void posthog.capture('meanwhile'));
  await eventually(() => ingest.events('meanwhile').length > 0);
  expect(ingest.events('$exception')).toEqual([]);
  release();
  const { entry } = await exception();
  expect(entry).toMatchObject({ type: 'TypeError', mechanism: { handled: false } });
  expect(entry?.stacktrace?.frames.length).toBeGreaterThan(0);
});

test('sends errors with minimal details if the visitor leaves the page before the script has loaded', async () => {
  const release = hold();
  const page = await open();
  await page.evaluate(() => void posthog.captureException(new RangeError('too late')));
  await leavePage(page);
  release();
  const { entry } = await exception();
  expect(entry).toEqual({
    type: 'RangeError',
    value: 'too late',
    mechanism: { type: 'generic', handled: true, synthetic: false, exception_id: 0 },
  });
});

test.each<[string, string, (page: Page) => Promise<unknown>, object]>([
  ['an error', 'Error: m', (page) => page.evaluate(() => posthog.captureException(new Error('m'))), {}],
  ['a text', 'Error: m', (page) => page.evaluate(() => posthog.captureException('m')), {}],
  ['nothing', 'Error: undefined', (page) => page.evaluate(() => posthog.captureException(undefined)), {}],
  [
    'a rejection',
    'TypeError: m',
    (page) => page.evaluate(() => void Promise.reject(new TypeError('m'))),
    { capture_exceptions: true },
  ],
  [
    'an error of a script from another origin',
    'Error: Script error.',
    (page) => page.evaluate(() => dispatchEvent(new ErrorEvent('error', { message: 'Script error.' }))),
    { capture_exceptions: true },
  ],
])('sends %s with minimal details if the script does not load', async (_, expected, act, options) => {
  const { [`/static/${version}/exceptions.js`]: code } = codes;
  // The library must not run a modified script, because the script would have access to the entire page.
  codes[`/static/${version}/exceptions.js`] = `${code};window.isTampered = true`;
  const page = await open(options);
  await act(page);
  const { entry } = await exception();
  expect(`${entry?.type}: ${entry?.value}`).toBe(expected);
  expect(await page.evaluate('window.isTampered')).toBeUndefined();
  codes[`/static/${version}/exceptions.js`] = code as string;
});

test.each([
  ['the host of the library', () => `default-src 'none'; script-src ${site.url}; connect-src ${ingest.url}`],
  ['only scripts with a nonce', () => `default-src 'none'; script-src 'nonce-shop'; connect-src ${ingest.url}`],
])('loads side scripts with a content security policy that allows %s', async (_, allowed) => {
  policy = allowed();
  ingest.config = { ...errors, millrace: { web_vitals: true, web_vitals_allowed_metrics: ['FCP'] } };
  const page = await open();
  await page.evaluate(() => void posthog.captureException(new Error('m')));
  const { entry } = await exception();
  expect(entry?.stacktrace?.frames.length).toBeGreaterThan(0);
  const vitals = await eventually(() => ingest.events('$web_vitals')[0] ?? false);
  expect(vitals.properties.$web_vitals_FCP_value).toBeGreaterThan(0);
  expect(sideScripts().sort()).toEqual([`/static/${version}/exceptions.js`, `/static/${version}/web-vitals.js`]);
});
