import { eventually } from '@millrace/testing';
import type { InitOptions } from '../../src/client/client.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

const name = '__ph_opt_in_out_phc_test';

const state = () => ({
  hasOptedIn: window.posthog.has_opted_in_capturing(),
  hasOptedOut: window.posthog.has_opted_out_capturing(),
  explicit: window.posthog.get_explicit_consent_status(),
  captured: window.posthog.capture('probe') !== undefined,
  stored: localStorage.getItem('__ph_opt_in_out_phc_test'),
});

describe("the visitor's consent", () => {
  const rows: [what: string, options: InitOptions, call: string, expected: object][] = [
    [
      'not requested',
      {},
      '',
      { hasOptedIn: true, hasOptedOut: false, explicit: 'pending', captured: true, stored: null },
    ],
    ['given', {}, 'opt_in_capturing', { hasOptedIn: true, explicit: 'granted', captured: true, stored: '1' }],
    ['refused', {}, 'opt_out_capturing', { hasOptedIn: false, explicit: 'denied', captured: false, stored: '0' }],
    ['forgotten', {}, 'clear_opt_in_out_capturing', { explicit: 'pending', captured: true, stored: null }],
    [
      'required but not given yet',
      { opt_out_capturing_by_default: true },
      '',
      { hasOptedIn: false, hasOptedOut: true, explicit: 'pending', captured: false, stored: null },
    ],
    [
      'required and given',
      { opt_out_capturing_by_default: true },
      'opt_in_capturing',
      { hasOptedIn: true, explicit: 'granted', captured: true, stored: '1' },
    ],
  ];
  test.each(rows)('all methods report the correct consent if it is %s', async (_, options, call, expected) => {
    const { page } = await lab.visit({ options });
    await page.evaluate((member) => {
      if (member) (window.posthog as unknown as Record<string, () => void>)[member]?.();
    }, call);
    expect(await page.evaluate(state)).toMatchObject(expected);
  });

  test.each(['true', '1', 'yes'])(
    'accepts the value %s from a consent management tool as consent',
    async (consentWord) => {
      const { page } = await lab.visit({ options: { opt_out_capturing_by_default: true } });
      await page.evaluate(([key, value]) => localStorage.setItem(key ?? '', value ?? ''), [name, consentWord]);
      expect(await page.evaluate(state)).toMatchObject({ explicit: 'granted', captured: true });
    },
  );

  test('keeps the consent across page loads, in a cookie if the option requires it', async () => {
    const visitor = await lab.browser.newContext();
    const options: InitOptions = { opt_out_capturing_persistence_type: 'cookie' };
    const { page } = await lab.visit({ visitor, options });
    await page.evaluate(() => window.posthog.opt_out_capturing());
    expect((await visitor.cookies()).find((cookie) => cookie.name === name)).toMatchObject({ value: '0', path: '/' });
    const again = await lab.visit({ visitor, options });
    expect(await again.page.evaluate(state)).toMatchObject({ explicit: 'denied', captured: false, stored: null });
  });

  test('keeps the consent when an option changes its storage location', async () => {
    const visitor = await lab.browser.newContext();
    const { page } = await lab.visit({ visitor });
    await page.evaluate(() => window.posthog.opt_out_capturing());
    const options: InitOptions = { opt_out_capturing_persistence_type: 'cookie' };
    const again = await lab.visit({ visitor, options });
    expect(await again.page.evaluate(state)).toMatchObject({ explicit: 'denied', captured: false });
  });
});

describe('opt_in_capturing', () => {
  const rows: [args: unknown[], events: string[]][] = [
    [[], ['$opt_in']],
    [[{ captureEventName: 'agreed', captureProperties: { by: 'banner' } }], ['agreed']],
    [[{ captureEventName: null }], []],
    [[{ captureEventName: false }], []],
  ];
  test.each(rows)('opt_in_capturing with %j captures %j', async (args, expected) => {
    const { page } = await lab.visit({ options: { opt_out_capturing_by_default: true } });
    const events = await page.evaluate((given) => {
      const seen: string[] = [];
      window.posthog.on('eventCaptured', ({ event }) => seen.push(event));
      window.posthog.opt_in_capturing(...(given as [{ captureEventName?: string }]));
      window.posthog.opt_in_capturing();
      return seen;
    }, args);
    expect(events).toEqual(expected);
  });

  test('opt_in_capturing sends only events captured after consent', async () => {
    const { page } = await lab.visit({ options: { opt_out_capturing_by_default: true } });
    await page.evaluate(() => {
      window.posthog.capture('refused');
      window.posthog.opt_in_capturing();
      window.posthog.capture('agreed to');
    });
    await eventually(() => expect(lab.ingest.events('agreed to')).toHaveLength(1));
    expect(lab.ingest.events('refused')).toEqual([]);
  });
});

test('with opt_out_persistence_by_default, stores values only after consent', async () => {
  const options = { opt_out_capturing_by_default: true, opt_out_persistence_by_default: true };
  const { page } = await lab.visit({ options });
  const stored = () => [localStorage.getItem('ph_phc_test_posthog'), document.cookie];
  const id = await page.evaluate(() => window.posthog.get_distinct_id());
  expect(await page.evaluate(stored)).toEqual([null, '']);
  await page.evaluate(() => window.posthog.opt_in_capturing());
  const [local, cookie] = await page.evaluate(stored);
  expect(JSON.parse(local ?? '{}').distinct_id).toBe(id);
  expect(cookie).toContain(id);
  await page.evaluate(() => window.posthog.opt_out_capturing());
  expect(await page.evaluate(stored)).toEqual([null, '']);
});

describe('respect_dnt', () => {
  const rows: [signal: string, value: unknown, respect: boolean, isCaptured: boolean][] = [
    ['doNotTrack', '1', true, false],
    ['doNotTrack', '1', false, true],
    ['doNotTrack', null, true, true],
    ['globalPrivacyControl', true, true, false],
  ];
  test.each(rows)(
    'respect_dnt with navigator.%s %p and the option %p allows capturing: %p',
    async (signal, value, respect_dnt, isCaptured) => {
      const visitor = await lab.browser.newContext();
      await visitor.addInitScript(
        ([key, signalValue]) =>
          Object.defineProperty(navigator, String(key), { value: signalValue, configurable: true }),
        [signal, value],
      );
      const { page } = await lab.visit({ visitor, options: { respect_dnt } });
      expect(await page.evaluate(state)).toMatchObject({ captured: isCaptured, hasOptedOut: !isCaptured });
    },
  );
});
