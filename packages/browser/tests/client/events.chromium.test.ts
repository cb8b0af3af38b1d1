import { eventually } from '@millrace/testing';
import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

test('the service receives an event exactly as capture returned it', async () => {
  const { page, complaints } = await lab.visit({ path: '/shop?utm_source=news' });
  const captured = await page.evaluate(() =>
    JSON.parse(JSON.stringify(window.posthog.capture('order placed', { total: 42 }))),
  );
  const event = await eventually(() => lab.ingest.events('order placed').at(0) ?? false);
  expect(event).toEqual(captured);
  expect(event.properties).toMatchObject({ total: 42, token: 'phc_test', utm_source: 'news', $lib: 'web' });
  expect(complaints).toEqual([]);
});

async function visitWith(options: string) {
  const visit = await lab.visit({ isStarted: false });
  await visit.page.evaluate(
    `posthog.init('phc_test', { api_host: '${lab.ingest.url}', opt_out_useragent_filter: true, capture_pageview: false, ${options} })`,
  );
  return visit;
}

describe('before_send', () => {
  const rows: [what: string, option: string, expected: unknown, complaint?: string][] = [
    ['changes an event', `(event) => { event.properties.added = 1; return event; }`, { added: 1 }],
    ['replaces it', `(event) => ({ ...event, properties: { only: 1 } })`, { only: 1 }],
    ['drops it', `() => null`, undefined],
    ['drops it by returning undefined', `() => {}`, undefined],
    ['drops it by throwing', `() => { throw new Error('mine'); }`, undefined, 'before_send failed'],
    ['drops it by returning a promise', 'async (event) => event', undefined, 'before_send dropped one'],
    ['drops it by returning another value', '() => true', undefined, 'before_send dropped one'],
    [
      'is a list of functions that run in order',
      `[(event) => { event.properties.a = 1; return event; }, (event) => { event.properties.b = event.properties.a + 1; return event; }]`,
      { a: 1, b: 2 },
    ],
    [
      'is a list in which one function drops it',
      `[() => null, (event) => { event.properties.c = 1; return event; }]`,
      undefined,
    ],
    [
      'receives cut texts and may return longer ones',
      `(event) => { event.properties.long = 'x'.repeat(70000); return event; }`,
      { long: 'x'.repeat(70_000) },
    ],
  ];
  test.each(rows)('%s', async (_, option, expected, complaint = '') => {
    const { page, complaints } = await visitWith(`before_send: ${option}`);
    const seen = await page.evaluate(() => {
      const heard: string[] = [];
      window.posthog.on('eventCaptured', ({ event }) => heard.push(event));
      return { properties: window.posthog.capture('one')?.properties, heard };
    });
    expect(seen.heard).toEqual(expected === undefined ? [] : ['one']);
    if (expected === undefined) expect(seen.properties).toBeUndefined();
    else expect(seen.properties).toMatchObject(expected as object);
    expect(complaints.join()).toContain(complaint);
  });
});

test.each<[what: string, option: string, expected: object | undefined]>([
  ['changes properties', `(all, event) => ({ ...all, secret: 'masked', of: event })`, { secret: 'masked', of: 'one' }],
  ['removes properties', '({ token, distinct_id }) => ({ token, distinct_id })', { secret: undefined }],
  ['drops an event by throwing', `() => { throw new Error('mine'); }`, undefined],
])('sanitize_properties %s', async (_, option, expected) => {
  const { page } = await visitWith(`sanitize_properties: ${option}, person_profiles: 'always'`);
  const event = await page.evaluate(() => window.posthog.capture('one', { secret: 'x' }));
  if (expected === undefined) expect(event).toBeUndefined();
  else expect({ secret: undefined, ...event?.properties }).toMatchObject(expected);
});

test('sanitize_properties also receives $set_once, and cannot change $process_person_profile', async () => {
  const { page } = await visitWith(`person_profiles: 'always', sanitize_properties: (all, of) => ({ of })`);
  const event = await page.evaluate(() => window.posthog.capture('one'));
  expect(event).toMatchObject({
    properties: { of: 'one', $process_person_profile: true },
    $set_once: { of: '$set_once' },
  });
});

test('get_device_id determines the device ID', async () => {
  const { page } = await visitWith(`get_device_id: (id) => 'device-' + id`);
  expect(await page.evaluate(() => window.posthog.get_distinct_id())).toMatch(/^device-[\da-f-]{36}$/);
});

test('truncates strings to properties_string_max_length', async () => {
  const { page } = await visitWith('properties_string_max_length: 5');
  const event = await page.evaluate(() =>
    window.posthog.capture('one', { long: '1234567', deep: [{ long: '1234567' }] }, { $set: { name: '1234567' } }),
  );
  expect(event?.properties).toMatchObject({ long: '12345', deep: [{ long: '12345' }] });
  expect(event?.$set).toEqual({ name: '12345' });
});

describe('capture options', () => {
  test('uses a valid uuid as the event UUID', async () => {
    const { page } = await lab.visit();
    const uuid = '01a1fb70-f151-7076-823d-4f90b70d101c';
    const seen = await page.evaluate(
      (given) => [given, 'mine'].map((one) => window.posthog.capture('one', {}, { uuid: one })?.uuid),
      uuid,
    );
    expect(seen).toEqual([uuid, expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/)]);
  });

  test.each(['new Date(NaN)', `'yesterday'`, '12'])(
    'logs an error and ignores an invalid timestamp (%s)',
    async (given) => {
      const { page, complaints } = await lab.visit();
      const seen = await page.evaluate(`JSON.stringify(posthog.capture('one', {}, { timestamp: ${given} }))`);
      const event = JSON.parse(String(seen));
      expect(Math.abs(Date.parse(event.timestamp) - Date.now())).toBeLessThan(600_000);
      expect(event.properties).not.toHaveProperty('$event_time_override_provided');
      expect(complaints.join()).toContain('timestamp');
    },
  );

  test('sends $set, $set_once and $unset as event fields instead of properties', async () => {
    const { page } = await lab.visit();
    const event = await page.evaluate(() =>
      window.posthog.capture('one', {}, { $set: { a: 1 }, $set_once: { b: 2 }, $unset: ['c'] }),
    );
    expect(event).toMatchObject({ $set: { a: 1 }, $set_once: { b: 2 }, $unset: ['c'] });
  });
});

test.each(['', undefined, null, 7, {}])('capture(%p) logs an error and captures nothing', async (name) => {
  const { page, complaints } = await lab.visit();
  expect(await page.evaluate((given) => window.posthog.capture(given as string), name)).toBeUndefined();
  expect(complaints.join()).toContain('the event name is missing');
});

describe('super properties', () => {
  test('adds super properties to every event until they are unregistered', async () => {
    const { page } = await lab.visit();
    const seen = await page.evaluate(() => {
      const { posthog } = window;
      posthog.register({ plan: 'pro', seats: 3 });
      posthog.register_once({ plan: 'free', first: 1 });
      posthog.register_once({ plan: 'basic' }, 'pro');
      posthog.register_for_session({ step: 1 });
      const before = posthog.capture('one', { seats: 4 })?.properties;
      const read = [
        posthog.get_property('plan'),
        posthog.getSessionProperty('step'),
        posthog.getSessionProperty('plan'),
      ];
      posthog.unregister('plan');
      posthog.unregister_for_session('step');
      return { before, read, after: posthog.capture('two')?.properties };
    });
    expect(seen.before).toMatchObject({ plan: 'basic', seats: 4, first: 1, step: 1 });
    expect(seen.read).toEqual(['basic', 1, undefined]);
    expect(seen.after).toMatchObject({ seats: 3, first: 1 });
    for (const removed of ['plan', 'step']) expect(seen.after).not.toHaveProperty(removed);
  });

  test('calls all super property listeners even if one of them throws', async () => {
    const { page, complaints } = await lab.visit();
    const heard = await page.evaluate(() => {
      const seen: string[] = [];
      window.posthog.on('eventCaptured', () => {
        throw new Error('of the application');
      });
      window.posthog.on('eventCaptured', ({ event }) => seen.push(event));
      window.posthog.capture('one');
      return seen;
    });
    expect(heard).toEqual(['one']);
    expect(complaints.join()).toContain('of the application');
  });
});

test('methods of missing features do nothing, and log this once in debug mode', async () => {
  const { page } = await lab.visit({ options: { debug: true } });
  const logged: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  const seen = await page.evaluate(() => {
    const { posthog } = window;
    posthog.startSessionRecording();
    posthog.stopSessionRecording();
    posthog.renderSurvey('s', '#here');
    const surveys: unknown[] = [];
    posthog.getSurveys((all) => surveys.push(all));
    posthog.getActiveMatchingSurveys((all) => surveys.push(all));
    return {
      surveys,
      isRecording: posthog.sessionRecordingStarted(),
      url: posthog.get_session_replay_url(),
      id: posthog.get_session_id(),
    };
  });
  expect(seen).toMatchObject({
    surveys: [[], []],
    isRecording: false,
    url: `${lab.ingest.url}/project/phc_test/replay/${seen.id}`,
  });
  for (const what of ['Session replay', 'Surveys'])
    expect(logged.filter((text) => text.includes(`${what} `))).toHaveLength(1);
});

test('get_session_replay_url returns the session URL, with a time if requested', async () => {
  const visitor = await lab.browser.newContext();
  await visitor.clock.install({ time: new Date('2026-11-22T10:00:00Z') });
  const { page } = await lab.visit({ visitor, options: { ui_host: 'https://ui.example' } });
  const id = await page.evaluate(() => window.posthog.get_session_id());
  await visitor.clock.fastForward(100_000);
  const urls = await page.evaluate(() => [
    window.posthog.get_session_replay_url(),
    window.posthog.get_session_replay_url({ withTimestamp: true, timestampLookBack: 200 }),
  ]);
  const address = `https://ui.example/project/phc_test/replay/${id}`;
  expect(urls).toEqual([address, `${address}?t=0`]);
});
