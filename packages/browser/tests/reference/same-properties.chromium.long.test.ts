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

/** Properties that only one library sets or whose values differ, each with the reason. */
const differing: Record<string, string> = {
  $lib_version: 'each library has its version',
  $sdk_dist_channel: 'the name of PostHog’s package',
  $insert_id: 'random',
  $time: 'now',
  $initialization_time: 'now',
  distinct_id: 'another visitor',
  $device_id: 'another visitor',
  $session_id: 'another visitor',
  $window_id: 'another visitor',
  $current_url: 'each library has its page',
  $pathname: 'each library has its page',
  $session_entry_url: 'each library has its page',
  $session_entry_pathname: 'each library has its page',
  $pageview_id: 'the id of the page view before',
  $lib_rate_limit_remaining_tokens: 'a number that increases with time',
  $event_time_override_system_time: 'now',
  $last_posthog_reset: 'now',
  $anon_distinct_id: 'another visitor',
};

type Event = { properties: Record<string, unknown>; $set?: unknown; $set_once?: Record<string, unknown> };

async function eventsOf(library: 'ours' | 'reference', script: string, options: InitOptions): Promise<Event[]> {
  const { page } = await lab.visit({
    path: `${library === 'ours' ? '/shop' : '/reference'}?utm_source=news&gclid=G1&page=2#top`,
    // Turn off flags and settings, because the time of their responses varies.
    options: { ...options, advanced_disable_flags: true, ...(library === 'reference' && referenceOptions) },
  });
  return run(page, script);
}

function run(page: Page, script: string): Promise<Event[]> {
  return page.evaluate(`(() => {
    const events = [];
    const stop = posthog.on('eventCaptured', (event) => events.push(JSON.parse(JSON.stringify(event))));
    ${script}
    return events;
  })()`) as Promise<Event[]>;
}

const rows: [what: string, script: string, options?: InitOptions][] = [
  ['an event', `posthog.capture('order placed', { total: 42, list: [1, 'a'] })`],
  ['a second event', `posthog.capture('one'); posthog.capture('two')`],
  [
    'super properties',
    `posthog.register({ plan: 'pro' }); posthog.register_once({ plan: 'free', first: 1 }); posthog.capture('one')`,
  ],
  [
    'session properties',
    `posthog.register_for_session({ step: 1 }); posthog.capture('one', { step: 2 }); posthog.capture('two')`,
  ],
  ['identify', `posthog.identify('u', { a: 1 }, { b: 2 }); posthog.capture('after')`],
  [
    'identify twice',
    `posthog.identify('u', { a: 1 }); posthog.identify('u', { a: 1 }); posthog.identify('u', { a: 2 }); posthog.identify('v')`,
  ],
  [
    'groups',
    `posthog.group('company', 'acme', { name: 'Acme' }); posthog.capture('one', { $groups: { team: 'red' } }); posthog.identify('u')`,
  ],
  ['an alias', `posthog.alias('a'); posthog.capture('after')`],
  [
    'person properties',
    `posthog.setPersonProperties({ a: 1 }, { b: 2 }); posthog.unsetPersonProperties(['a']); posthog.createPersonProfile()`,
  ],
  ['a person profile', `posthog.createPersonProfile(); posthog.capture('one')`],
  ['a reset', `posthog.identify('u'); posthog.reset(); posthog.capture('after')`],
  ['consent', `posthog.opt_out_capturing(); posthog.capture('lost'); posthog.opt_in_capturing()`],
  [
    'options of an event',
    `posthog.capture('one', { a: 1 }, { $set: { p: 1 }, $set_once: { q: 2 }, timestamp: new Date(1e12) })`,
  ],
  ['long texts', `posthog.capture('one', { long: 'x'.repeat(70000), deep: { long: 'y'.repeat(70000) } })`],
  [
    'values that JSON does not have',
    `posthog.capture('one', { s: Symbol('s'), u: undefined, n: NaN, nothing: null, l: [undefined] })`,
  ],
  ['person_profiles always', `posthog.capture('one'); posthog.capture('two')`, { person_profiles: 'always' }],
  [
    'person_profiles never',
    `posthog.identify('u'); posthog.group('a', 'b', { c: 1 }); posthog.capture('two')`,
    { person_profiles: 'never' },
  ],
  ['masked', `posthog.capture('one'); posthog.identify('u')`, { mask_personal_data_properties: true }],
  [
    'a denylist',
    `posthog.capture('one', { secret: 1, open: 2 })`,
    { property_denylist: ['secret', '$os', '$is_identified'] },
  ],
  ['no campaign parameters', `posthog.capture('one'); posthog.identify('u')`, { save_campaign_params: false }],
  [
    'no referrer',
    `posthog.capture('one'); posthog.identify('u')`,
    { save_referrer: false, save_campaign_params: false },
  ],
  ['an additional campaign parameter', `posthog.capture('one')`, { custom_campaign_params: ['page'] }],
  ['defaults', `posthog.capture('one')`, { defaults: '2025-05-24' }],
];

test.each(rows)('%s: sends the same event properties as posthog-js', async (_, script, options = {}) => {
  const [ours, theirs] = await Promise.all([eventsOf('ours', script, options), eventsOf('reference', script, options)]);
  expect(comparable(ours)).toEqual(comparable(theirs));
});

/** Removes properties that may differ between the two libraries, and properties about the state of posthog-js. */
function comparable(events: Event[]): unknown[] {
  return events.map(({ properties, $set_once, ...rest }) => ({
    ...{ ...rest, uuid: 'new', timestamp: 'now' },
    properties: without(properties),
    ...($set_once && { $set_once: without($set_once) }),
  }));
}

function without(properties: Record<string, unknown>): Record<string, unknown> {
  const ofEachPage = /^\$(initial_)?(current_url|pathname)$/;
  return Object.fromEntries(
    Object.entries(properties)
      .map(([name, value]) => {
        const isOut = name in differing || ofEachPage.test(name);
        return [name, isOut ? 'differs' : value];
      })
      .filter(
        ([name, value]) => !String(name).startsWith('$sdk_d') && !(value === 'differs' && name === '$pageview_id'),
      ),
  );
}
