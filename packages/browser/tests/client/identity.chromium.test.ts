import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import type { Client, InitOptions } from '../../src/client/client.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

interface CapturedEvent {
  name: string;
  properties: Record<string, unknown>;
  set?: unknown;
  setOnce?: Record<string, unknown>;
  unset?: unknown;
}

/**
 * Calls the client's methods in the page. Returns the captured events, the results of the calls, and the stored data.
 */
async function run(page: Page, calls: [name: keyof Client, ...args: unknown[]][]) {
  return page.evaluate((all) => {
    const client = window.posthog as unknown as Record<string, (...args: unknown[]) => unknown>;
    const captured: CapturedEvent[] = [];
    const stop = window.posthog.on('eventCaptured', (event) => {
      const { event: name, properties, $set: set, $set_once: setOnce, $unset: unset } = event;
      captured.push({ name, properties, set, ...(setOnce && { setOnce }), ...(unset && { unset }) });
    });
    const results = all.map(([name, ...args]) => client[name]?.(...args));
    stop();
    const stored = JSON.parse(localStorage.getItem('ph_phc_test_posthog') ?? '{}') as Record<string, unknown>;
    return { captured, results, stored };
  }, calls);
}

async function newVisitor(options: InitOptions = {}) {
  const { page, complaints } = await lab.visit({ options });
  const id = await page.evaluate(() => window.posthog.get_distinct_id());
  return { page, complaints, id };
}

const uuid7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe("the visitor's identity", () => {
  test('on the first visit, generates an ID that is also the device ID', async () => {
    const { page, id } = await newVisitor();
    const { stored } = await run(page, []);
    expect(id).toMatch(uuid7);
    expect(stored).toMatchObject({ distinct_id: id, $device_id: id, $user_state: 'anonymous' });
  });

  test.each([
    ['', 'not a valid distinct ID'],
    [undefined, 'not a valid distinct ID'],
    [null, 'not a valid distinct ID'],
    ['undefined', 'not a valid distinct ID'],
    ['null', 'not a valid distinct ID'],
    ['NULL', 'not a valid distinct ID'],
    ['distinct_id', 'not a valid distinct ID'],
    ['DistinctId', 'not a valid distinct ID'],
    ['$posthog_cookieless', 'not a valid distinct ID'],
    [{}, 'not a valid distinct ID'],
  ])('identify(%p) logs an error and does not identify the visitor', async (wrong, text) => {
    const { page, complaints, id } = await newVisitor();
    const { captured, stored } = await run(page, [['identify', wrong]]);
    expect(captured).toEqual([]);
    expect(stored).toMatchObject({ distinct_id: id, $user_state: 'anonymous' });
    expect(complaints.join()).toContain(`identify: ${text}`);
  });

  test.each([
    ['anonymous', 'anonymous'],
    ['guest', 'guest'],
    ['0', '0'],
    [42, '42'],
  ])('identify(%p) identifies the visitor', async (given, id) => {
    const { page } = await newVisitor();
    const { stored } = await run(page, [['identify', given]]);
    expect(stored).toMatchObject({ distinct_id: id, $user_state: 'identified', $user_id: id });
  });

  test('identify immediately sends $identify with the properties if the visitor was anonymous', async () => {
    const { page, id } = await newVisitor();
    const { captured, stored } = await run(page, [['identify', 'user-7', { email: 'u7@example.test' }, { first: 1 }]]);
    expect(captured).toHaveLength(1);
    expect(captured[0]).toMatchObject({
      name: '$identify',
      properties: { distinct_id: 'user-7', $user_id: 'user-7', $anon_distinct_id: id, $device_id: id },
      set: { email: 'u7@example.test' },
      setOnce: { first: 1, $initial_referrer: '$direct', $initial_current_url: `${lab.site.url}/shop` },
    });
    expect(captured[0]?.properties).toMatchObject({ $is_identified: true, $process_person_profile: true });
    expect(stored).toMatchObject({ distinct_id: 'user-7', $user_state: 'identified', $device_id: id, $epp: true });
  });

  test("identify sends only a $set event for the visitor's own anonymous ID", async () => {
    const { page, id } = await newVisitor();
    const { captured, stored } = await run(page, [['identify', id, { plan: 'pro' }]]);
    expect(captured).toEqual([expect.objectContaining({ name: '$set' })]);
    expect(captured[0]?.properties).toMatchObject({ $set: { plan: 'pro' }, $set_once: {}, distinct_id: id });
    expect(stored).toMatchObject({ distinct_id: id, $user_state: 'identified' });
  });

  test('identify does not merge two identified visitors', async () => {
    const { page } = await newVisitor();
    await run(page, [['identify', 'user-1']]);
    const { captured, stored } = await run(page, [['identify', 'user-2']]);
    expect(captured).toEqual([]);
    expect(stored).toMatchObject({ distinct_id: 'user-2', $user_id: 'user-2', $user_state: 'identified' });
  });

  test('sends a $set event only if person properties have changed', async () => {
    const { page } = await newVisitor();
    const { captured } = await run(page, [
      ['identify', 'user-1', { plan: 'pro' }],
      ['identify', 'user-1', { plan: 'pro' }],
      ['setPersonProperties', { plan: 'pro' }],
      ['setPersonProperties', { plan: 'free' }],
      ['setPersonProperties', { plan: 'free' }],
      ['setPersonProperties', undefined, { once: 1 }],
    ]);
    expect(captured.map(({ name }) => name)).toEqual(['$identify', '$set', '$set']);
    expect(captured[1]?.properties).toMatchObject({ $set: { plan: 'free' }, $set_once: {} });
    expect(captured[2]?.properties).toMatchObject({ $set: {}, $set_once: { once: 1 } });
  });

  test('unsetPersonProperties removes properties, so that they can be set again', async () => {
    const { page } = await newVisitor();
    const { captured } = await run(page, [
      ['setPersonProperties', { plan: 'pro' }],
      ['unsetPersonProperties', ['plan', '', 7]],
      ['setPersonProperties', { plan: 'pro' }],
      ['unsetPersonProperties', []],
    ]);
    expect(captured.map(({ name }) => name)).toEqual(['$set', '$set', '$set']);
    expect(captured[1]?.properties.$unset).toEqual(['plan']);
  });

  test("alias adds an ID, and returns -1 for the visitor's current ID", async () => {
    const { page, id } = await newVisitor();
    const { captured, results } = await run(page, [
      ['alias', 'alias-1'],
      ['alias', 'alias-2', 'other'],
    ]);
    expect(captured.map(({ name, properties }) => [name, properties.alias, properties.distinct_id])).toEqual([
      ['$create_alias', 'alias-1', id],
      ['$create_alias', 'alias-2', 'other'],
    ]);
    expect(results[0]).toMatchObject({ event: '$create_alias' });
    expect((await run(page, [['alias', id]])).results).toEqual([-1]);
  });

  test('group sends $groupidentify, and adds the group to every later event', async () => {
    const { page } = await newVisitor();
    const { captured, results, stored } = await run(page, [
      ['setPersonProperties', { a: 1 }],
      ['group', 'company', 'acme', { name: 'Acme' }],
      ['group', 'company', 'acme'],
      ['group', 'team', 'red'],
      ['capture', 'of both'],
      ['capture', 'of one more', { $groups: { room: '1' } }],
      ['capture', 'of none', { $groups: {} }],
      ['getGroups'],
      ['resetGroups'],
      ['getGroups'],
    ]);
    expect(captured.map(({ name }) => name)).toEqual([
      ...['$set', '$groupidentify', '$groupidentify', 'of both', 'of one more', 'of none'],
    ]);
    expect(captured[1]?.properties).toMatchObject({
      ...{ $groups: { company: 'acme' }, $group_type: 'company', $group_key: 'acme', $group_set: { name: 'Acme' } },
    });
    expect(captured[2]?.properties).not.toHaveProperty('$group_set');
    expect(captured.slice(3).map(({ properties }) => properties.$groups)).toEqual([
      { company: 'acme', team: 'red' },
      { company: 'acme', team: 'red', room: '1' },
      {},
    ]);
    expect([results[7], results[9]]).toEqual([{ company: 'acme', team: 'red' }, {}]);
    expect(stored.$groups).toEqual({});
  });

  test('reset starts a new visitor on the same device', async () => {
    const { page, id } = await newVisitor();
    await run(page, [
      ['identify', 'user-1'],
      ['register', { plan: 'pro' }],
      ['register_for_session', { step: 1 }],
      ['group', 'company', 'acme'],
      ['opt_in_capturing', { captureEventName: null }],
    ]);
    const session = await page.evaluate(() => window.posthog.get_session_id());
    const { captured, stored } = await run(page, [['reset'], ['capture', 'after']]);
    expect(stored.distinct_id).toMatch(uuid7);
    expect(stored.distinct_id).not.toBe(id);
    expect(stored).toMatchObject({ $device_id: id, $user_state: 'anonymous' });
    for (const removed of ['plan', '$groups', '$user_id', '$epp', '__alias'])
      expect(stored).not.toHaveProperty([removed]);
    expect(captured[0]?.properties.$session_id).not.toBe(session);
    expect(captured[0]?.properties).not.toHaveProperty('step');
    expect(Date.parse(String(captured[0]?.properties.$last_posthog_reset))).toBeGreaterThan(0);
    expect(await page.evaluate(() => window.posthog.get_explicit_consent_status())).toBe('pending');
  });

  test('reset(true) starts a new visitor on a new device', async () => {
    const { page, id } = await newVisitor();
    const { stored } = await run(page, [['reset', true]]);
    expect(stored.$device_id).toBe(stored.distinct_id);
    expect(stored.$device_id).not.toBe(id);
  });

  test('reset with bootstrap starts the given visitor', async () => {
    const { page, id } = await newVisitor();
    const how = { bootstrap: { distinctID: 'next', isIdentifiedID: true } };
    const { stored } = await run(page, [['reset', how]]);
    expect(stored).toMatchObject({ distinct_id: 'next', $user_state: 'identified', $device_id: id });
  });

  test('if reset clears the consent, captures no more events and logs this', async () => {
    const { page, complaints } = await newVisitor({ opt_out_capturing_by_default: true });
    await run(page, [['opt_in_capturing'], ['reset']]);
    expect(complaints.join()).toContain('reset cleared the consent');
  });
});

describe('person_profiles', () => {
  const makers: [keyof Client, ...unknown[]][] = [
    ['identify', 'user-1'],
    ['alias', 'a'],
    ['group', 'company', 'acme'],
    ['setPersonProperties', { a: 1 }],
    ['createPersonProfile'],
  ];
  test.each(makers)('identified_only adds a person profile to events only after %s', async (...call) => {
    const { page } = await newVisitor();
    const { captured, stored } = await run(page, [['capture', 'before'], call, ['capture', 'after']]);
    expect(captured[0]?.properties.$process_person_profile).toBe(false);
    expect(captured[0]).not.toHaveProperty('setOnce');
    expect(captured.at(-1)?.properties.$process_person_profile).toBe(true);
    expect(stored.$epp).toBe(true);
  });

  test.each([
    ['always', true],
    ['never', false],
  ] as const)('%s sets $process_person_profile to %p on every event', async (person_profiles, isMade) => {
    const { page, complaints } = await newVisitor({ person_profiles });
    const { captured } = await run(page, [
      ['capture', 'one'],
      ['capture', 'two'],
      ['setPersonProperties', { a: 1 }],
    ]);
    expect(captured.map(({ properties }) => properties.$process_person_profile)).toEqual(
      isMade ? [true, true, true] : [false, false],
    );
    expect(captured.map(({ setOnce }) => setOnce !== undefined)).toEqual(
      isMade ? [true, false, false] : [false, false],
    );
    expect(complaints.join()).toContain(isMade ? '' : 'setPersonProperties has no effect');
  });

  test('ignores $process_person_profile from the application', async () => {
    const { page } = await newVisitor();
    const { captured } = await run(page, [['capture', 'one', { $process_person_profile: true }]]);
    expect(captured[0]?.properties.$process_person_profile).toBe(false);
  });
});

describe('bootstrap', () => {
  test('uses an anonymous ID from bootstrap as the device ID', async () => {
    const { page, id } = await newVisitor({ bootstrap: { distinctID: 'server-1' } });
    const { stored } = await run(page, []);
    expect(id).toBe('server-1');
    expect(stored).toMatchObject({ $device_id: 'server-1', $user_state: 'anonymous' });
  });

  test('does not use an identified ID from bootstrap as the device ID', async () => {
    const { page } = await newVisitor({ bootstrap: { distinctID: 'user-1', isIdentifiedID: true } });
    const { stored } = await run(page, []);
    expect(stored).toMatchObject({ distinct_id: 'user-1', $user_state: 'identified' });
    expect(stored.$device_id).toMatch(uuid7);
  });

  test('bootstrap with an identified ID sends $identify if the device had an anonymous visitor', async () => {
    const visitor = await lab.browser.newContext();
    const first = await lab.visit({ visitor });
    const id = await first.page.evaluate(() => window.posthog.get_distinct_id());
    await lab.visit({ visitor, options: { bootstrap: { distinctID: 'user-1', isIdentifiedID: true } } });
    const [event] = await eventually(
      () =>
        lab.ingest
          .events('$identify')
          .filter(({ properties }) => properties.$anon_distinct_id === id)
          .map((one) => [one])
          .at(0) ?? false,
    );
    expect(event?.properties.distinct_id).toBe('user-1');
  });

  test('bootstrap with an identified ID logs a warning and has no effect if another user is identified', async () => {
    const visitor = await lab.browser.newContext();
    const first = await lab.visit({ visitor });
    await run(first.page, [['identify', 'user-1']]);
    const { page, complaints } = await lab.visit({
      visitor,
      options: { bootstrap: { distinctID: 'user-2', isIdentifiedID: true } },
    });
    expect((await run(page, [])).stored.distinct_id).toBe('user-1');
    expect(complaints.join()).toContain('another user is identified');
  });
});
