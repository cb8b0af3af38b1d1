import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { openPage, type Visit } from '../support/open-page.ts';
import { type ReceivedEvent, type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { waitForSettings } from '../support/settings-known.ts';
import { type Comparison, startComparison } from '../support/start-comparison.ts';
import { startSite } from '../support/start-site.ts';
import { stackCases, thrownCases } from './thrown-cases.ts';

declare const posthog: import('../../src/index.ts').Client;

const ofExtension = /extension|schemes/;

interface Entry {
  type: string;
  value: string;
  mechanism: Record<string, unknown>;
  stacktrace?: { type: string; frames: Record<string, unknown>[] };
}

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

describe('captureException compared with posthog-js', () => {
  let comparison: Comparison;
  beforeAll(async () => {
    comparison = await startComparison(browser);
  });
  afterAll(() => comparison?.stop());

  test.each(thrownCases)('captures the same event as posthog-js for %s', async (_, thrown) => {
    const [ours, reference] = await tell(`const thrown = ${thrown};`);
    expect(withoutOwnFrames(ours)).toEqual(withoutOwnFrames(reference));
  });

  test.each(stackCases)('captures the same event as posthog-js for a stack of %s', async (of, stack) => {
    const [ours, reference] = await tell(`const thrown = new Error('m'); thrown.stack = ${JSON.stringify(stack)};`);
    if (!ofExtension.test(of)) return expect(ours).toEqual(reference);
    // posthog-js ignores errors from browser extensions. This library captures them if the application passes them
    // explicitly.
    expect(reference).toEqual([]);
    expect(framesOf(ours).filter(({ in_app }) => !in_app)).not.toEqual([]);
  });

  test('captures the same event as posthog-js with additional properties', async () => {
    const { ours, reference } = await comparison.run({
      html: '',
      act: `const error = new Error('m'); for (const one of [posthog, reference]) one.captureException(error, { cart: 3, $exception_level: 'warning' })`,
    });
    expect(withoutOwnFrames(listOf(ours))).toEqual(withoutOwnFrames(listOf(reference)));
    expect(Object.keys(ours[0]?.properties ?? {}).sort()).toEqual(Object.keys(reference[0]?.properties ?? {}).sort());
    expect(ours[0]?.properties).toMatchObject({ cart: 3, $exception_level: 'warning' });
  });

  const hostile: [string, string][] = [
    ['an error that is its own cause', `const thrown = new Error('m'); thrown.cause = thrown;`],
    ['causes in a circle', `const thrown = new Error('m'); thrown.cause = new Error('n', { cause: thrown });`],
    [
      'very many causes',
      `let thrown = new Error('m'); for (let i = 0; i < 1000; i++) thrown = new Error('m', { cause: thrown });`,
    ],
    [
      'very many errors',
      `const thrown = new AggregateError(Array.from({ length: 1000 }, () => new Error('m')), 'all');`,
    ],
    [
      'a getter that throws',
      `const thrown = new Error('m'); Object.defineProperty(thrown, 'stack', { get() { throw 1 } });`,
    ],
    [
      'a proxy that throws',
      `const thrown = new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } });`,
    ],
    ['a message that is not a text', `const thrown = new Error('m'); thrown.message = { toString() { throw 1 } };`],
    ['a message of 10 MB', `const thrown = new Error('m'.repeat(1e7));`],
    [
      'a stack of 10 MB',
      `const thrown = new Error('m'); thrown.stack = '    at f (https://x.example/a.js:1:2)\\n'.repeat(3e5);`,
    ],
    ['a line of 10 MB', `const thrown = new Error('m'); thrown.stack = '    at ' + '('.repeat(1e7);`],
  ];
  test.each(hostile)('captureException does not throw for %s', async (_, thrown) => {
    const entries = (await tell(thrown))[0];
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.length).toBeLessThanOrEqual(50);
  });

  async function tell(thrown: string): Promise<[Entry[], Entry[]]> {
    const act = `${thrown} for (const one of [posthog, reference]) one.captureException(thrown);`;
    const { ours, reference } = await comparison.run({ html: '', act });
    return [listOf(ours), listOf(reference)];
  }
});

describe('captureException', () => {
  test('captureException calls posthog.capture before and after init, even if the application has replaced it', async () => {
    const [ingest, site] = await Promise.all([startScriptedIngest(), startSite()]);
    const { page } = await openPage(await browser.newContext(), site.url);
    await page.waitForFunction('window.posthog');
    const seen = await page.evaluate((host) => {
      const names: unknown[] = [];
      posthog.capture = (name, properties) => {
        names.push([name, (properties as { $exception_list: unknown[] }).$exception_list.length]);
        return undefined;
      };
      posthog.captureException(new Error('early', { cause: new Error('why') }));
      posthog.init('phc_test', { api_host: host, opt_out_useragent_filter: true, capture_pageview: false });
      posthog.captureException('late');
      return names;
    }, ingest.url);
    expect(seen).toEqual([
      ['$exception', 2],
      ['$exception', 1],
    ]);
    await page.context().close();
    await site.stop();
    await ingest.stop();
  });
});

describe('uncaught errors', () => {
  let ingest: ScriptedIngest;
  let site: TestServer;
  beforeAll(async () => {
    site = await startSite();
  });
  beforeEach(async () => {
    ingest = await startScriptedIngest();
  });
  afterEach(() => ingest.stop());
  afterAll(() => site?.stop());

  const named = { capture_unhandled_errors: true };
  const enablingCases: [string, object, object, boolean | 'errors'][] = [
    ['the settings enable it', {}, { autocaptureExceptions: true, errorTracking: undefined }, true],
    ['the newer settings enable it', {}, { errorTracking: { autocaptureExceptions: true } }, true],
    [
      'the settings disable it',
      {},
      { autocaptureExceptions: false, errorTracking: { autocaptureExceptions: false } },
      false,
    ],
    ['the application enables it', { capture_exceptions: true }, {}, true],
    [
      'the application disables it',
      { capture_exceptions: false },
      { errorTracking: { autocaptureExceptions: true } },
      false,
    ],
    ['the application enables some', { capture_exceptions: named }, { autocaptureExceptions: true }, 'errors'],
    ['the application enables none', { capture_exceptions: {} }, { autocaptureExceptions: true }, false],
    [
      'the application enables it and does not request settings',
      { capture_exceptions: true, advanced_disable_flags: true },
      {},
      true,
    ],
    [
      'the application does not request settings',
      { advanced_disable_flags: true },
      { errorTracking: { autocaptureExceptions: true } },
      false,
    ],
  ];
  test.each(enablingCases)('captures uncaught errors only if enabled: %s', async (_, options, config, isCaptured) => {
    const visit = await open(options, config);
    await visit.page.evaluate(async () => {
      const dispatched = ['error', 'unhandledrejection'].map(
        (type) => new Promise((resolve) => addEventListener(type, resolve, { once: true })),
      );
      setTimeout(() => {
        throw new TypeError('not caught');
      });
      Promise.reject('for a reason');
      await Promise.all(dispatched);
    });
    if (!('advanced_disable_flags' in options)) await waitForSettings(visit.page);
    await end(visit);
    const entries = ingest.events('$exception').map(({ properties }) => (properties.$exception_list as Entry[])[0]);
    if (!isCaptured) return expect(entries).toEqual([]);
    const rejection = ['UnhandledRejection', 'Non-Error promise rejection captured with value: for a reason'];
    expect(entries.map((entry) => [entry?.type, entry?.value]).sort()).toEqual([
      ['TypeError', 'not caught'],
      ...(isCaptured === 'errors' ? [] : [rejection]),
    ]);
    for (const entry of entries) expect(entry?.mechanism).toMatchObject({ type: 'generic', handled: false });
  });

  test('keeps uncaught errors until the settings are known', async () => {
    const { after, release } = createHold();
    const body = { errorTracking: { autocaptureExceptions: true } };
    ingest.respondWith(({ path }) => (path.startsWith('/array/') ? { after, body } : undefined));
    const { page } = await open({}, {});
    await page.evaluate(() => void Promise.reject(new Error('early')));
    await page.evaluate(() => {
      posthog.capture('meanwhile');
      return posthog.flush();
    });
    expect(ingest.events().map(({ event }) => event)).toEqual(['meanwhile']);
    release();
    const event = await eventually(() => ingest.events('$exception')[0] ?? false);
    expect(listOf([event])[0]?.value).toBe('early');
  });

  test('captures at most ten uncaught errors of each type', async () => {
    const visit = await open({ capture_exceptions: true }, {});
    await visit.page.evaluate(() => {
      for (let i = 0; i < 500; i++) window.dispatchEvent(new ErrorEvent('error', { error: new Error(`again ${i}`) }));
      window.dispatchEvent(new ErrorEvent('error', { error: new TypeError('another') }));
    });
    await end(visit);
    const types = ingest.events('$exception').map((event) => listOf([event])[0]?.type);
    expect(types).toEqual([...Array.from({ length: 10 }, () => 'Error'), 'TypeError']);
  });

  test('ignores uncaught errors from browser extensions', async () => {
    const visit = await open({ capture_exceptions: true }, {});
    await visit.page.evaluate(() => {
      const error = new Error('of an extension');
      error.stack = 'Error: of an extension\n    at f (chrome-extension://abcdef/content.js:1:2)';
      window.dispatchEvent(new ErrorEvent('error', { error }));
    });
    await end(visit);
    expect(ingest.events('$exception')).toHaveLength(0);
  });

  test('ignores images that fail to load, and errors after a shutdown', async () => {
    const visit = await open({ capture_exceptions: true }, {});
    await visit.page.evaluate(async () => {
      await new Promise((resolve) =>
        Object.assign(document.body.appendChild(new Image()), { onerror: resolve, src: 'data:,' }),
      );
      await posthog.shutdown();
      window.dispatchEvent(new ErrorEvent('error', { error: new Error('late') }));
    });
    await end(visit);
    expect(ingest.events('$exception')).toHaveLength(0);
  });

  async function open(options: object, config: object): Promise<Visit> {
    Object.assign(
      ingest.config,
      { autocaptureExceptions: false, errorTracking: { autocaptureExceptions: false } },
      config,
    );
    const visit = await openPage(await browser.newContext(), site.url);
    const { page } = visit;
    await page.waitForFunction('window.posthog');
    const given = {
      ...{ api_host: ingest.url, opt_out_useragent_filter: true, capture_pageview: false },
      ...{ feature_flag_request_timeout_ms: patienceMs, ...options },
    };
    await page.evaluate(`posthog.init('phc_test', ${JSON.stringify(given)})`);
    return visit;
  }

  async function end({ page }: Visit): Promise<void> {
    await page.evaluate(async () => {
      posthog.capture('end');
      await posthog.flush();
    });
    await eventually(() => ingest.events('end').length > 0);
    await page.context().close();
  }
});

const listOf = (events: Pick<ReceivedEvent, 'properties'>[]): Entry[] =>
  (events.find(({ properties }) => properties.$exception_list)?.properties.$exception_list ?? []) as Entry[];

const framesOf = (entries: Entry[]) => entries[0]?.stacktrace?.frames ?? [];

/**
 * Removes the stack frames of the test function, which an error without a stack gets from the `captureException` call.
 */
const withoutOwnFrames = (entries: Entry[]) =>
  entries.map(({ stacktrace, ...entry }) => ({
    ...entry,
    frames: entry.mechanism.synthetic
      ? stacktrace !== undefined
      : stacktrace?.frames.filter((frame) => frame.function !== 'take'),
  }));
