import type { InitOptions } from '../../src/client/client.ts';
import { openPage } from '../support/open-page.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;
let defaults: Record<string, unknown>;

beforeAll(async () => {
  lab = await startLab();
  const { page } = await init('phc_test', { api_host: lab.ingest.url });
  defaults = await page.evaluate(() => JSON.parse(JSON.stringify(window.posthog.config)));
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

async function init(token: unknown, options: unknown) {
  const { page, complaints } = await lab.visit({ isStarted: false });
  const isLoaded = await page.evaluate(
    ([key, given]) => {
      window.posthog.init(key as string, given as InitOptions);
      return window.posthog.__loaded;
    },
    [token, options],
  );
  return { page, complaints, isLoaded };
}

describe('init', () => {
  test.each([
    ['', 'the token is missing'],
    ['  ', 'the token is missing'],
    [undefined, 'the token is missing'],
    [null, 'the token is missing'],
  ])('init logs an error and does nothing else with the token %p', async (token, text) => {
    const { complaints, isLoaded } = await init(token, { api_host: lab.ingest.url });
    expect(isLoaded).toBe(false);
    expect(complaints.join()).toContain(text);
  });

  test.each([[undefined], [{}], [{ api_host: '' }], ['https://host'], [7]])(
    'init logs that api_host is missing with the options %j',
    async (options) => {
      const { complaints, isLoaded } = await init('phc_test', options);
      expect(isLoaded).toBe(false);
      expect(complaints.join()).toContain('api_host is missing');
    },
  );

  test('the second init call logs a warning and does nothing', async () => {
    const { page, complaints } = await lab.visit();
    const token = await page.evaluate((api_host) => {
      window.posthog.init('phc_other', { api_host });
      return window.posthog.config.token;
    }, lab.ingest.url);
    expect(token).toBe('phc_test');
    expect(complaints.join()).toContain('already initialized');
  });

  test('init calls `loaded` with the client, and continues if `loaded` throws', async () => {
    const { page, complaints } = await lab.visit({ isStarted: false });
    const isSame = await page.evaluate((api_host) => {
      let given: unknown;
      const loaded = (client: unknown) => {
        given = client;
        throw new Error('of the application');
      };
      const client = window.posthog.init('phc_test', { api_host, loaded });
      return given === client && client === window.posthog;
    }, lab.ingest.url);
    expect(isSame).toBe(true);
    expect(complaints.join()).toContain('of the application');
  });

  test('init accepts a bootstrap option whose flags are null', async () => {
    const { page } = await init('phc_test', {
      api_host: lab.ingest.url,
      bootstrap: { distinctID: 'user-1', featureFlags: null, featureFlagPayloads: null },
    });
    expect(await page.evaluate(() => window.posthog.get_distinct_id())).toBe('user-1');
    const other = await init('phc_test', {
      api_host: lab.ingest.url,
      bootstrap: { featureFlags: { beta: true }, featureFlagPayloads: null },
      // Without this option, the service's response would replace the flags.
      advanced_disable_feature_flags_on_first_load: true,
    });
    expect(await other.page.evaluate(() => window.posthog.getFeatureFlag('beta'))).toBe(true);
  });

  test.each(['undefined', `''`, `Promise.resolve('mine')`, `(() => { throw new Error('mine'); })()`])(
    'init creates an ID if get_device_id returns %s',
    async (given) => {
      const { page, complaints } = await lab.visit({ isStarted: false });
      const ids = await page.evaluate(`(() => {
        posthog.init('phc_test', { api_host: '${lab.ingest.url}', get_device_id: () => ${given} });
        const first = posthog.get_distinct_id();
        posthog.reset(true);
        return [first, posthog.get_distinct_id()];
      })()`);
      expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
      expect(complaints.join()).toContain('get_device_id');
    },
  );

  test('init creates named clients that work independently', async () => {
    const { page } = await lab.visit();
    const seen = await page.evaluate((api_host) => {
      const second = window.posthog.init('phc_second', { api_host, opt_out_useragent_filter: true }, 'second');
      const member = (window.posthog as unknown as Record<string, unknown>).second;
      const [one, two] = [window.posthog.capture('a'), second?.capture('a')];
      return {
        isMember: member === second,
        tokens: [one?.properties.token, two?.properties.token],
        areTwo: one?.properties.distinct_id !== two?.properties.distinct_id,
      };
    }, lab.ingest.url);
    expect(seen).toEqual({ isMember: true, tokens: ['phc_test', 'phc_second'], areTwo: true });
  });
});

describe('validating and changing options', () => {
  const wrong: [name: string, value: unknown][] = [
    ['api_host', 7],
    ['autocapture', 'yes'],
    ['persistence', 'indexedDB'],
    ['person_profiles', 'sometimes'],
    ['capture_pageview', 'always'],
    ['cookie_expiration', '1'],
    ['cookie_expiration', -1],
    ['property_denylist', 'secret'],
    ['before_send', 'drop'],
    ['before_send', [1]],
    ['bootstrap', true],
    ['debug', 'on'],
    ['loaded', {}],
    ['flushAt', Number.NaN],
    ['process_person', 'sometimes'],
  ];
  test.each(wrong)('%s: rejects %p with an error that names the option, and uses the default', async (name, value) => {
    const { page, complaints } = await init('phc_test', { api_host: `${lab.ingest.url}/`, ...{ [name]: value } });
    const today = name === 'process_person' ? 'person_profiles' : name;
    expect(complaints.join()).toContain(today);
    if (name === 'api_host') return;
    const used = await page.evaluate(() => JSON.parse(JSON.stringify(window.posthog.config)));
    expect(used[today]).toEqual(defaults[today]);
  });

  const renamed: [former: string, value: unknown, today: string][] = [
    ['process_person', 'always', 'person_profiles'],
    ['xhr_headers', { a: 'b' }, 'request_headers'],
    ['cookie_name', 'shop', 'persistence_name'],
    ['disable_cookie', true, 'disable_persistence'],
    ['store_google', false, 'save_campaign_params'],
    ['verbose', true, 'debug'],
    ['property_blacklist', ['a'], 'property_denylist'],
  ];
  test.each(renamed)('accepts the former option name %s', async (former, value, today) => {
    const { page } = await init('phc_test', { api_host: lab.ingest.url, [former]: value });
    const config = await page.evaluate(() => JSON.parse(JSON.stringify(window.posthog.config)));
    expect(config[today]).toEqual(value);
  });

  test('fills in default options, and removes trailing slashes from hosts', async () => {
    const { page } = await init('phc_test', { api_host: `${lab.ingest.url}//`, ui_host: 'https://ui.example/' });
    const config = await page.evaluate(() => JSON.parse(JSON.stringify(window.posthog.config)));
    expect(config).toMatchObject({
      ...{ api_host: lab.ingest.url, ui_host: 'https://ui.example', token: 'phc_test', defaults: 'unset' },
      ...{ autocapture: true, capture_pageview: true, capture_pageleave: 'if_capture_pageview', flushAt: 20 },
      ...{ persistence: 'localStorage+cookie', cookie_expiration: 365, person_profiles: 'identified_only' },
      ...{ feature_flag_request_timeout_ms: 3000, session_idle_timeout_seconds: 1800, name: 'posthog' },
      ...{ properties_string_max_length: 65_535, remote_config_refresh_interval_ms: 300_000, debug: false },
    });
  });

  test('uses the default options as of the date in `defaults`', async () => {
    const { page } = await init('phc_test', { api_host: lab.ingest.url, defaults: '2025-05-24' });
    expect(await page.evaluate(() => window.posthog.config.capture_pageview)).toBe('history_change');
  });

  test('turns on debug mode if the URL contains ?__posthog_debug=true', async () => {
    const { page } = await lab.visit({ path: '/shop?__posthog_debug=true' });
    expect(await page.evaluate(() => window.posthog.config.debug)).toBe(true);
  });

  test('set_config changes every option except the token', async () => {
    const { page, complaints } = await lab.visit();
    const seen = await page.evaluate(() => {
      window.posthog.set_config({ property_denylist: ['secret'], persistence: 'nowhere' as 'memory' });
      Object.assign(window, { token: window.posthog.config.token });
      return window.posthog.capture('one', { secret: 1, open: 2 })?.properties;
    });
    expect(seen).toMatchObject({ open: 2, token: 'phc_test' });
    expect(seen).not.toHaveProperty('secret');
    expect(complaints.join()).toContain('persistence');
  });
});

describe('calls before init', () => {
  test('every function does nothing before init, and logs that init must be called first', async () => {
    const { page, complaints } = await lab.visit({ isStarted: false });
    const results = await page.evaluate(() => {
      const client = window.posthog as unknown as Record<string, unknown>;
      const subscriptions = ['init', 'on', 'onFeatureFlags', 'onSessionId'];
      const names = Object.keys(client).filter(
        (name) => typeof client[name] === 'function' && !subscriptions.includes(name),
      );
      return names.map((name) => [name, (client[name] as () => unknown)()]);
    });
    expect(results.length).toBeGreaterThanOrEqual(50);
    for (const [name, result] of results) {
      expect([name, result ?? undefined]).toEqual([name, undefined]);
      // Applications may replace the client's `capture`, which `captureException` calls.
      const calling = name === 'captureException' ? 'capture' : name;
      expect(complaints.join()).toContain(`You must initialize PostHog before calling posthog.${calling}`);
    }
  });

  test('the application can add and remove listeners before init', async () => {
    const { page, complaints } = await lab.visit({ isStarted: false });
    const calls = await page.evaluate((api_host) => {
      const seen: string[] = [];
      window.posthog.on('eventCaptured', ({ event }) => seen.push(`kept ${event}`));
      const stop = window.posthog.on('eventCaptured', ({ event }) => seen.push(`stopped ${event}`));
      const stopLater = window.posthog.on('eventCaptured', ({ event }) => seen.push(`for a while ${event}`));
      stop();
      window.posthog.init('phc_test', { api_host, opt_out_useragent_filter: true });
      window.posthog.capture('one');
      stopLater();
      window.posthog.capture('two');
      return seen;
    }, lab.ingest.url);
    expect(calls).toEqual(['kept one', 'for a while one', 'kept two']);
    expect(complaints).toEqual([]);
  });

  test('the application can read options, flags and __loaded before init', async () => {
    const { page } = await lab.visit({ isStarted: false });
    const seen = await page.evaluate(() => {
      const { config, featureFlags, __loaded, version } = window.posthog;
      return {
        bootstrap: config.bootstrap,
        has: featureFlags.hasLoadedFlags,
        flags: featureFlags.getFlags(),
        __loaded,
        version,
      };
    });
    expect(seen).toMatchObject({ has: false, flags: [], __loaded: false, version: expect.stringMatching(/^\d+\./) });
  });
});

test('the library works under the strictest content security policy', async () => {
  const policy = `default-src 'none'; script-src 'self'; connect-src ${lab.ingest.url}`;
  const strict = await startLab({
    headers: { 'content-security-policy': policy },
    files: {
      '/strict': { type: 'text/html', content: '<!doctype html><script type="module" src="/strict.js"></script>' },
      '/strict.js': {
        type: 'text/javascript',
        content: `import posthog from '/millrace.js';
          window.posthog = posthog;
          posthog.init('phc_strict', { api_host: '${lab.ingest.url}', opt_out_useragent_filter: true });
          posthog.identify('u', { a: 1 });
          posthog.capture('strict');
          document.title = 'done';`,
      },
    },
  });
  const { page, complaints } = await openPage(await strict.browser.newContext(), `${strict.site.url}/strict`);
  await page.waitForFunction(() => document.title === 'done');
  await page.evaluate(() => window.posthog.flush());
  expect(lab.ingest.events('strict')).toHaveLength(1);
  expect(complaints).toEqual([]);
  await strict.stop();
});
