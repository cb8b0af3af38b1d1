import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { topicNames } from '@millrace/contracts';
import { createPostgresLog, type EventLog, type LogRecord, readTopic } from '@millrace/event-log';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * `test-e2e/dead-letters.kafka.test.ts` covers both event logs, with the consumer that writes dead letters and stores
 * replayed records.
 */
const topics = topicNames();
let api: TestApi;
let log: EventLog;
let tenant: TestTenant;
let other: TestTenant;
let path: string;
let next = 0;
beforeAll(async () => {
  api = await startTestApi();
  log = createPostgresLog({ database: api.database, logger: api.logger });
  await log.ensureTopics([{ topic: topics.live, partitions: 1 }]);
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  other = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/dead_letters`;
});
afterAll(async () => {
  await log.close();
  await api.stop();
});

interface Given {
  of?: TestTenant;
  value?: string;
  reason?: string;
  at?: string;
  topic?: string;
  event?: string;
  omitted?: boolean;
}

/** Stores a dead letter. Returns its ID. */
async function storeDeadLetter(given: Given = {}): Promise<string> {
  const { of = tenant, reason = 'refused_by_database', at = '2026-11-20T10:00:00.000Z', topic = topics.live } = given;
  const offset = String(next++);
  const captured = {
    kind: 'event',
    environment_id: of.environmentId,
    event: given.event ?? 'buy',
    distinct_id: 'ada',
    now: '2026-11-20T09:00:00Z',
  };
  const headers: Record<string, string> = {
    kept: 'yes',
    ...{ dlq_reason: reason, dlq_step: 'process_batch', dlq_timestamp: at, dlq_topic: topic, dlq_partition: '0' },
    ...{ dlq_offset: offset, dlq_log: 'a log', ...(given.omitted && { dlq_value_omitted: 'true' }) },
  };
  const value = Buffer.from(given.value ?? JSON.stringify(captured));
  await log.append([{ topic: topics.deadLetter, key: `${of.projectApiKey}:ada`, value, headers }]);
  return `live-0-${offset}`;
}

const ask = (query = '') => api.get(`${path}${query}`, tenant.personalApiKey);
const ids = async (query = '') => (await ask(query)).body.results.map(({ id }: { id: string }) => id);
const send = (action: string, given: unknown, key = tenant.personalApiKey) =>
  api.send('POST', `${path}/${action}/`, { key, body: given });

async function replayedRecords(): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  const options = { topic: topics.live, from: 'start', until: 'end', signal: new AbortController().signal } as const;
  await readTopic(log, { ...options, onRecord: (record) => void records.push(record) });
  return records.filter(({ key }) => key === `${tenant.projectApiKey}:ada`);
}

test("describes a dead letter's event and error and returns its record, but only to its own project", async () => {
  const theirs = await storeDeadLetter({ of: other });
  const id = await storeDeadLetter();
  const shown = {
    ...{
      id,
      topic: 'live',
      reason: 'refused_by_database',
      detail: 'PostgreSQL rejected one of the values in the event.',
    },
    advice: expect.stringContaining('replay the record'),
    ...{ captured_at: '2026-11-20T09:00:00.000Z', dead_at: '2026-11-20T10:00:00Z', event: 'buy', distinct_id: 'ada' },
    ...{ bytes: expect.any(Number), state: 'waiting' },
  };
  expect((await ask('/')).body).toEqual({ next: null, results: [shown] });
  expect((await ask(`/${id}/`)).body).toEqual({
    ...shown,
    record: expect.objectContaining({ kind: 'event', environment_id: tenant.environmentId }),
  });
  for (const unknown of [theirs, 'live-0-999999', 'overflow-0-1', 'x', '..%2f', 'live-0-1%00']) {
    expect([unknown, (await ask(`/${unknown}`)).status]).toEqual([unknown, 404]);
  }
  expect(await send('replay', { ids: [theirs] })).toMatchObject({
    body: { replayed: 0, skipped: [{ id: theirs, why: 'Dead letter not found.' }] },
  });
  expect((await send('discard', { ids: [theirs] })).body).toEqual({ discarded: 0 });
});

test('assigns a dead letter to the project of its environment ID or, without this ID, of its API key', async () => {
  const broken = await storeDeadLetter({ value: '{"broken', reason: 'failed_parse_message' });
  await storeDeadLetter({ value: JSON.stringify({ environment_id: other.environmentId }) });
  await storeDeadLetter({ value: '', topic: 'somewhere else' });
  const omitted = await storeDeadLetter({ value: '', omitted: true });
  expect(await ids()).toEqual([omitted, broken].sort().reverse());
  expect((await ask(`/${broken}`)).body).toMatchObject({ record: '{"broken', event: null, captured_at: null });
  expect((await ask(`/${omitted}`)).body).toMatchObject({ record: null });
  const { body } = await send('replay', { ids: [omitted] });
  expect(body).toMatchObject({ replayed: 0, skipped: [{ id: omitted }] });
});

test('combines dead letter filters with AND, and returns complete pages even if many have the same time', async () => {
  const early = await storeDeadLetter({ reason: 'processing_error', at: '2026-11-01T00:00:00.000Z' });
  const many: string[] = [];
  for (let index = 0; index < 5; index += 1) many.push(await storeDeadLetter());
  expect(await ids('?reason=processing_error')).toEqual([early]);
  expect(await ids('?before=2026-11-20')).toEqual([early]);
  expect(await ids('?after=2026-11-01')).toHaveLength(5);
  expect(await ids('?topic=overflow')).toEqual([]);
  expect(await ids('?state=discarded')).toEqual([]);
  const seen = await readAllPages<{ id: string }>(api, `${path}?limit=2`, tenant.personalApiKey);
  expect(seen.map(({ id }) => id)).toEqual([...many.sort().reverse(), early]);
});

test('console-030: replays a dead letter unchanged to its topic, and accepts and records only one decision', async () => {
  const [first, second, third] = [await storeDeadLetter(), await storeDeadLetter(), await storeDeadLetter()];
  expect((await send('replay', { ids: [first, first, second] })).body).toEqual({ replayed: 2, skipped: [] });
  expect(await replayedRecords()).toMatchObject([{ headers: { kept: 'yes' } }, { headers: { kept: 'yes' } }]);
  expect((await replayedRecords())[0]?.headers).not.toHaveProperty('dlq_reason');
  expect((await send('replay', { ids: [first] })).body).toEqual({
    replayed: 0,
    skipped: [{ id: first, why: 'The dead letter was already replayed.' }],
  });
  expect((await send('discard', { ids: [first, third] })).body).toEqual({ discarded: 1 });
  expect(await replayedRecords()).toHaveLength(2);
  const states = (await ask()).body.results.map(({ id, state }: { id: string; state: string }) => [id, state]);
  expect(Object.fromEntries(states)).toEqual({ [first]: 'replayed', [second]: 'replayed', [third]: 'discarded' });
  const activity = await api.get(
    `/api/organizations/${tenant.organizationId}/activity?scope=DeadLetter&item_id=${third}`,
    tenant.personalApiKey,
  );
  const change = { type: 'DeadLetter', action: 'changed', field: 'state', before: 'waiting', after: 'discarded' };
  expect(activity.body.results).toMatchObject([{ item_id: third, detail: { changes: [change] } }]);
});

test('returns 403 for dead letters if the caller is only a member', async () => {
  const { sql } = api.database;
  const member = await createUser(sql, { email: `member-${tenant.userId}@example.com` });
  await addMember(sql, { organizationId: tenant.organizationId, userId: member.id, level: 1 });
  const { value } = await createPersonalApiKey(sql, { actor: null, userId: member.id, label: 'k', scopes: ['*'] });
  const id = await storeDeadLetter();
  expect((await api.get(path, value)).status).toBe(403);
  expect((await api.get(`${path}/${id}`, value)).status).toBe(403);
  expect((await send('replay', { ids: [id] }, value)).status).toBe(403);
  expect((await send('discard', { ids: [id] }, value)).status).toBe(403);
});

test('returns 503 for dead letters without an event log', async () => {
  const without = await startTestApi({ deadLetterLog: null });
  const own = await createTestTenant(without.database);
  const response = await without.get(`/api/projects/${own.projectId}/dead_letters`, own.personalApiKey);
  expect(response).toMatchObject({ status: 503, body: { code: 'no_event_log' } });
  await without.stop();
});

test.each([
  ['topic=x', 'topic'],
  ['state=x', 'state'],
  ['after=x', 'after'],
  ['cursor=x', 'cursor'],
])('returns 400 for dead letters with %s, naming the field', async (query, attr) => {
  const { status, body } = await ask(`?${query}`);
  expect([status, body.attr]).toEqual([400, attr]);
});

test.each([[{}], [{ ids: [] }], [{ ids: 'live-0-1' }], [{ ids: new Array(101).fill('live-0-1') }]])(
  'returns 400 for decisions on dead letters with %.60j, naming the field',
  async (given) => {
    for (const action of ['replay', 'discard']) {
      const { status, body } = await send(action, given);
      expect([status, body.attr]).toEqual([400, 'ids']);
    }
  },
);

test.each(['', 'x', 'live-0-1\0', 'LIVE-0-1', 'live-0-9999999999999999999'])(
  'returns 400 for a dead letter with the ID %j',
  async (id) => {
    const { status, body } = await send('replay', { ids: ['live-0-1', id] });
    expect([status, body.attr]).toEqual([400, 'ids__1']);
  },
);
