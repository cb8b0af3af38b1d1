import { randomUUID } from 'node:crypto';
import type { CapturedEvent, JsonObject } from '@millrace/contracts';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { createCookielessSalts } from './salts.ts';

let fixture: ConsumerFixture;
let project: TestProject;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await newProject();
});

const sql = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);
async function newProject(settings = 'cookieless_server_hash_mode = 1'): Promise<TestProject> {
  const created = await fixture.createProject();
  await sql(`UPDATE environment SET ${settings} WHERE id = $1`, [created.id]);
  return created;
}

const address = '203.0.113.77';
const browser = 'Mozilla/5.0 (made up)';
/** Yesterday at noon UTC. In every time zone, this is today or a recent day. */
const noon = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T12:00:00.000Z`;

function visit(
  properties: JsonObject = {},
  { of = project, ...event }: Partial<CapturedEvent> & { of?: TestProject } = {},
) {
  const shown = { $cookieless_mode: true, $raw_user_agent: browser, $host: 'www.example.co.uk:8080' };
  return capturedEvent(of.token, {
    distinct_id: '$posthog_cookieless',
    environment_id: of.id,
    cookieless_mode: true,
    ip: address,
    timestamp: noon,
    ...event,
    properties: { ...shown, ...properties },
  });
}

async function store(...events: CapturedEvent[]) {
  const batch = logBatch(randomUUID(), 0, events);
  const report = await processBatch(
    { batch, group: 'g', deadLetterReason: null, lockFirst: false },
    fixture.createDeps(),
  );
  if (report.outcome !== 'done') throw new Error('the batch is stale');
  return report;
}

async function idsOf(...events: CapturedEvent[]): Promise<unknown[]> {
  expect(await store(...events)).toMatchObject({ stored: events.length, dropped: [] });
  const rows = await sql('SELECT uuid, distinct_id FROM event WHERE uuid = ANY ($1::uuid[])', [
    events.map(({ uuid }) => uuid),
  ]);
  return events.map(({ uuid }) => rows.find((row) => row.uuid === uuid)?.distinct_id);
}

test('gives a cookieless visitor the same ID on all hosts of a site, and other visitors different IDs', async () => {
  const other = await newProject();
  const [id, ...ids] = await idsOf(
    visit(),
    visit({ $host: 'shop.example.co.uk' }),
    visit({ $raw_user_agent: 'another' }),
    visit({}, { ip: '203.0.113.78' }),
    visit({ $host: 'other.co.uk' }),
    visit({ $cookieless_extra: 'x' }),
    visit({}, { of: other }),
  );
  expect(id).toMatch(/^cookieless_[\w-]{22}$/);
  expect(ids[0]).toBe(id);
  expect(new Set([id, ...ids.slice(1)]).size).toBe(6);
});

test('a second consumer computes the same cookieless ID, until the salt is deleted', async () => {
  const [first, again] = [await idsOf(visit()), await idsOf(visit())];
  expect(again).toEqual(first);
  await sql('DELETE FROM cookieless_salt');
  expect(await idsOf(visit())).not.toEqual(first);
});

test('consumers that need a salt at the same time get the same one, and expired salts are deleted', async () => {
  await sql(
    "INSERT INTO cookieless_salt (day, salt, expires_at) VALUES ('2020-01-01', '\\x00', now() - interval '1 second')",
  );
  const day = { name: '2026-01-01', wallStartMs: Date.now(), startMs: Date.now() };
  const salts = await Promise.all(
    Array.from({ length: 8 }, () => createCookielessSalts(fixture.database.sql).find(day)),
  );
  expect(new Set(salts.map((salt) => salt.toString('hex'))).size).toBe(1);
  expect(salts[0]).toHaveLength(32);
  expect(await sql("SELECT day FROM cookieless_salt WHERE day = '2020-01-01'")).toEqual([]);
});

test('uses the salt of another consumer after the database was restored', async () => {
  const day = { name: '2026-01-02', wallStartMs: Date.now(), startMs: Date.now() };
  const salts = createCookielessSalts(fixture.database.sql);
  await salts.find(day);
  await sql("DELETE FROM cookieless_salt WHERE day = '2026-01-02'");
  const others = await createCookielessSalts(fixture.database.sql).find(day);
  expect(await salts.find(day)).not.toEqual(others);
  salts.forgetAll();
  expect(await salts.find(day)).toEqual(others);
});

test.each([false, true])(
  "stores none of the data from which a visitor's ID is computed (anonymize_ips %s)",
  async (anonymizeIps) => {
    await sql('UPDATE environment SET anonymize_ips = $2 WHERE id = $1', [project.id, anonymizeIps]);
    const extra = 'the-extra-of-this-visitor';
    const event = visit(
      {
        $ip: address,
        $cookieless_extra: extra,
        $set: { $raw_user_agent: browser, kept: 1 },
        $set_once: { $initial_raw_user_agent: browser },
      },
      { $set_once: { $initial_raw_user_agent: browser, $initial_ip: address } },
    );
    expect(await store(event)).toMatchObject({ stored: 1 });
    const stored = [
      await sql('SELECT event::text AS row FROM event WHERE project_id = $1', [project.id]),
      await sql('SELECT person::text AS row FROM person WHERE project_id = $1', [project.id]),
      await sql('SELECT person_distinct_id::text AS row FROM person_distinct_id WHERE project_id = $1', [project.id]),
    ];
    expect(stored.map((rows) => rows.length)).toEqual([1, 1, 1]);
    const text = JSON.stringify(stored);
    expect(text).toContain('kept');
    for (const trace of [address, browser, extra, '$posthog_cookieless']) expect(text).not.toContain(trace);
  },
);

test('gives a cookieless visitor one session per day', async () => {
  const events = [visit(), visit({ $session_id: 'of the client' })];
  await store(...events);
  const rows = await sql(
    `SELECT DISTINCT properties ->> '$session_id' AS session, properties ->> '$device_id' AS device
       FROM event WHERE project_id = $1`,
    [project.id],
  );
  expect(rows).toEqual([
    { session: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/), device: expect.stringMatching(/^cookielessd_/) },
  ]);
});

test.each<[string, string, JsonObject, boolean]>([
  ['UTC without any time zone', 'UTC', {}, true],
  ['the time zone of the project', 'Asia/Tokyo', {}, false],
  ['the time zone of the visitor', 'UTC', { $timezone: 'Asia/Tokyo' }, false],
  ['the time zone of the visitor rather than that of the project', 'Asia/Tokyo', { $timezone: 'UTC' }, true],
  [
    'the time zone of the project if that of the visitor is invalid',
    'Asia/Tokyo',
    { $timezone: 'Nowhere/At_All' },
    false,
  ],
])('determines the day of a cookieless visitor in %s', async (_name, timezone, properties, isSameDay) => {
  await sql('UPDATE environment SET timezone = $2 WHERE id = $1', [project.id, timezone]);
  const [before, after] = ['14:00', '16:00'].map((time) => `${noon.slice(0, 11)}${time}:00.000Z`);
  const [one, other] = await idsOf(
    visit(properties, { timestamp: before ?? '' }),
    visit(properties, { timestamp: after ?? '' }),
  );
  expect(one === other).toBe(isSameDay);
});

test.each<[string, () => CapturedEvent, string]>([
  [
    '$identify',
    () => visit({ $anon_distinct_id: 'a' }, { event: '$identify', distinct_id: 'u' }),
    'cookieless_unsupported_event',
  ],
  ['$create_alias', () => visit({ alias: 'a' }, { event: '$create_alias' }), 'cookieless_unsupported_event'],
  ['no user agent', () => visit({ $raw_user_agent: '' }), 'cookieless_missing_user_agent'],
  ['no IP address', () => visit({}, { ip: null }), 'cookieless_missing_ip'],
  ['no host', () => visit({ $host: 7 }), 'cookieless_missing_host'],
  [
    'a day long ago',
    () => visit({}, { timestamp: new Date(Date.now() - 6 * 86_400_000).toISOString() }),
    'cookieless_timestamp_out_of_range',
  ],
])('drops %s from a cookieless visitor and records a warning', async (_name, event, reason) => {
  expect(await store(event(), visit())).toMatchObject({ stored: 1, dropped: [reason] });
  expect(await sql('SELECT type, severity FROM ingestion_warning WHERE project_id = $1', [project.id])).toEqual([
    { type: reason, severity: 'error' },
  ]);
});

test('ingest-143: drops a cookieless event in a project with cookieless mode off, and stores one warning', async () => {
  const off = await newProject('cookieless_server_hash_mode = 0');
  const event = visit({}, { of: off });
  expect(await store(event)).toMatchObject({ stored: 0, dropped: ['cookieless_mode_disabled'] });
  expect(await store(event)).toMatchObject({ stored: 0, dropped: [], duplicates: 1 });
  expect(await sql('SELECT uuid FROM person WHERE project_id = $1', [off.id])).toEqual([]);
  expect(await sql('SELECT type, count FROM ingestion_warning WHERE project_id = $1', [off.id])).toEqual([
    { type: 'cookieless_mode_disabled', count: 1 },
  ]);
});

test('does not change an event that has the cookieless placeholder ID but does not request cookieless mode', async () => {
  const plain = capturedEvent(project.token, { distinct_id: '$posthog_cookieless' });
  expect(await idsOf(visit(), plain)).toEqual([expect.stringMatching(/^cookieless_/), '$posthog_cookieless']);
});
