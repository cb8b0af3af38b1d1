import type { Page } from 'playwright-core';
import type { InitOptions } from '../../src/client/client.ts';
import { referenceFiles, referenceOptions } from '../support/reference-files.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ files: await referenceFiles() });
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

type Library = 'ours' | 'reference';

async function goTo(page: Page, library: Library, options: InitOptions = {}): Promise<void> {
  const { site, ingest } = lab;
  await page.goto(`${site.url}${library === 'ours' ? '/shop' : '/reference'}?utm_source=${library}`);
  await page.waitForFunction(() => window.posthog !== undefined);
  const all = {
    ...{ api_host: ingest.url, opt_out_useragent_filter: true, autocapture: false, capture_pageview: false },
    ...(library === 'reference' && referenceOptions),
    ...options,
  };
  await page.evaluate((given) => void window.posthog.init('phc_test', given as InitOptions), all as object);
}

async function newVisitor(): Promise<Page> {
  const page = await (await lab.visitors.next()).newPage();
  await page.goto(`${lab.site.url}/nothing`);
  await lab.visitors.forget(page);
  return page;
}

/** Returns all stored data about a visitor that could be lost when a site switches to this library. */
function memory(page: Page): Promise<Record<string, unknown>> {
  return page.evaluate(() => {
    const event = window.posthog.capture('probe');
    const { posthog } = window;
    const properties = event?.properties ?? {};
    return {
      distinctId: posthog.get_distinct_id(),
      device: posthog.get_property('$device_id'),
      state: posthog.get_property('$user_state'),
      session: posthog.get_session_id(),
      window: properties.$window_id,
      groups: posthog.getGroups(),
      initial: posthog.get_property('$initial_person_info'),
      consent: posthog.get_explicit_consent_status(),
      isPerson: properties.$process_person_profile,
      plan: properties.plan,
      step: properties.step,
      user: properties.$user_id,
      referrer: properties.$referrer,
      entry: properties.$session_entry_utm_source,
      alias: posthog.get_property('__alias'),
    };
  });
}

const visits: [what: string, script: string][] = [
  ['an anonymous visitor', `posthog.capture('one')`],
  ['an identified visitor', `posthog.capture('one'); posthog.identify('user-1', { a: 1 })`],
  [
    'a visitor with groups and properties',
    `posthog.group('company', 'acme'); posthog.register({ plan: 'pro' }); posthog.register_for_session({ step: 3 })`,
  ],
  ['a visitor with an alias', `posthog.alias('other')`],
  ['a visitor who gave consent', `posthog.opt_in_capturing()`],
];

const persistences: NonNullable<InitOptions['persistence']>[] = [
  'localStorage+cookie',
  'localStorage',
  'cookie',
  'sessionStorage',
];

describe.each([
  ['reference', 'ours'],
  ['ours', 'reference'],
] as [Library, Library][])('switching a site from %s to %s and back', (from, to) => {
  test.each(visits)('switching keeps the stored data of %s', async (_, script) => {
    const page = await newVisitor();
    await goTo(page, from);
    await page.evaluate(script);
    const before = await memory(page);
    await goTo(page, to);
    expect(await memory(page)).toEqual(before);
    await goTo(page, from);
    expect(await memory(page)).toEqual(before);
  });

  test.each(persistences)(
    'with persistence %s, a page that switches to the other library keeps its visitor',
    async (persistence) => {
      const page = await newVisitor();
      await goTo(page, from, { persistence });
      await page.evaluate(`posthog.register({ plan: 'pro' }); posthog.identify('user-1')`);
      const before = await memory(page);
      await goTo(page, to, { persistence });
      expect(await memory(page)).toEqual(before);
      await page.evaluate(`posthog.register({ plan: 'free' })`);
      await goTo(page, from, { persistence });
      expect(await memory(page)).toEqual({ ...before, plan: 'free' });
    },
  );

  test("switching keeps the visitor's refusal of consent", async () => {
    const page = await newVisitor();
    await goTo(page, from);
    await page.evaluate(() => window.posthog.opt_out_capturing());
    await goTo(page, to);
    expect(await page.evaluate(() => window.posthog.capture('refused'))).toBeUndefined();
    await page.evaluate(() => window.posthog.opt_in_capturing());
    await goTo(page, from);
    expect(await page.evaluate(() => window.posthog.get_explicit_consent_status())).toBe('granted');
  });

  test('switching keeps a visitor that is stored only in the cookie', async () => {
    const page = await newVisitor();
    await goTo(page, from);
    await page.evaluate(() => window.posthog.identify('user-1'));
    const { distinctId, device, state, session, initial, isPerson } = await memory(page);
    await page.evaluate(() => localStorage.clear());
    await goTo(page, to);
    expect(await memory(page)).toMatchObject({ distinctId, device, state, session, initial, isPerson });
  });
});
