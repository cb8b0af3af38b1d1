import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { waitForSettings } from '../support/settings-known.ts';
import { type Lab, plainOptions, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ body: '<main><button>Buy</button></main>' });
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

async function visitChanged(script: string): Promise<{ page: Page; complaints: string[] }> {
  lab.ingest.clear();
  const visitor = await lab.browser.newContext();
  await visitor.addInitScript(script);
  return lab.visit({ visitor, isStarted: false });
}

const init = (options = '{}') =>
  `posthog.init('phc_test', { ...${JSON.stringify({ api_host: lab.ingest.url, ...plainOptions, flushAt: 50 })}, ...${options} })`;

const frameworks: [what: string, script: string][] = [
  [
    'a toJSON method on arrays',
    `Array.prototype.toJSON = function () { return '[' + this.map((one) => JSON.stringify(one)).join(', ') + ']'; }`,
  ],
  [
    'another Array.prototype.reduce',
    'Array.prototype.reduce = function () { return this.length > 1 ? this : this[0]; }',
  ],
  [
    'additional properties on every object',
    `Object.prototype.extra = 'x'; Array.prototype.first = function () { return this[0]; }`,
  ],
  ['no console', 'window.console = {}'],
  ['a console without functions', 'console.log = console.warn = console.error = null'],
  ['compression that fails', `window.CompressionStream = function () { throw new Error('no compression'); }`],
  ['a frozen history', 'Object.freeze(history)'],
  ['an empty Temporal object', 'window.Temporal = { Now: {} }'],
  [
    'forms named like properties of the document',
    `document.addEventListener('readystatechange', () => document.body?.insertAdjacentHTML('beforeend',
      ['cookie', 'referrer', 'title', 'head', 'body', 'forms'].map((name) => '<form name="' + name + '"></form>').join('')))`,
  ],
];

test.each(frameworks)('delivers every event unchanged on a page with %s', async (_, script) => {
  const { page, complaints } = await visitChanged(script);
  const seen = await page.evaluate(
    `(() => {
      ${init(`{ capture_pageview: 'history_change' }`)};
      posthog.register({ list: [1, 'two'] });
      posthog.identify('user-1', { email: 'ada@example.com' });
      const events = ['one', 'two', 'three'].map((name) => posthog.capture(name, { own: [{ a: 1 }] }));
      posthog.capture(undefined);
      return { sessions: [...new Set(events.map(({ properties }) => properties.$session_id))], zone: events[0].properties.$timezone };
    })()`,
  );
  expect(seen).toEqual({ sessions: [expect.any(String)], zone: expect.any(String) });
  await page.evaluate('posthog.flush()');
  const events = lab.ingest.events().filter(({ event }) => !event.startsWith('$'));
  expect(events.map(({ event }) => event)).toEqual(['one', 'two', 'three']);
  for (const { properties } of events)
    expect(properties).toMatchObject({ distinct_id: 'user-1', list: [1, 'two'], own: [{ a: 1 }] });
  const stored = JSON.parse(String(await page.evaluate('localStorage.ph_phc_test_posthog')));
  expect(stored).toMatchObject({
    $sesid: [expect.any(Number), expect.any(String), expect.any(Number)],
    list: [1, 'two'],
  });
  expect(complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
});

test('captures clicks even if a framework has replaced window.Element', async () => {
  const { page } = await visitChanged(
    'const own = window.Element; window.Element = function () {}; Object.assign(window.Element, own)',
  );
  await page.evaluate(init('{ autocapture: true }'));
  await waitForSettings(page);
  await eventually(async () => {
    await page.click('button');
    await page.evaluate('posthog.flush()');
    expect(lab.ingest.events('$autocapture')[0]?.properties.$elements_chain).toMatch(/^button:.*text="Buy"/);
  });
});

test('gives two tabs separate queues even if their random numbers and clocks are equal', async () => {
  const visitor = await lab.browser.newContext();
  await visitor.addInitScript('Math.random = () => 0.5; const now = Date.now(); Date.now = () => now - (now % 60_000)');
  lab.ingest.clear();
  lab.ingest.respondWith(({ method }) => (method === 'POST' ? { status: 503 } : undefined));
  for (const name of ['one', 'other']) {
    const { page } = await lab.visit({ visitor, isStarted: false });
    await page.evaluate(`${init()}; posthog.capture('${name}')`);
  }
  const [page] = visitor.pages();
  const queueCount = await page?.evaluate(
    'Object.keys(localStorage).filter((name) => name.includes("_queue_")).length',
  );
  lab.ingest.respondWith(null);
  expect(queueCount).toBe(2);
});

test('logs an exceeded rate limit only once on a page that captures console errors', async () => {
  const { page } = await visitChanged(`window.told = 0;
    console.error = (...what) => { window.told++; window.posthog?.capture('console', { text: what.join(' ') }); }`);
  const errorCount = await page.evaluate(
    `${init()}; for (let at = 0; at < 150; at++) posthog.capture('step'); window.told`,
  );
  expect(errorCount).toBe(1);
});
