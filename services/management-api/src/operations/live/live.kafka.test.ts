import { createHmac, randomUUID } from 'node:crypto';
import http from 'node:http';
import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { type ProcessedEvent, processedEventKey, processedEventVersion, topicNames } from '@millrace/contracts';
import { createSqlDatabase, type SqlDatabase } from '@millrace/db/sql';
import { createKafkaLog, createPostgresLog, type EventLog } from '@millrace/event-log';
import { createMetrics } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestTenant,
  eventually,
  type FaultProxy,
  type TestTenant,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import { signInAs, startTestApi, type TestApi, testTokenSecrets } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storeWarning } from '../../testing/stored-data.ts';
import { createLive, type LiveDeps, liveTimes } from './live.ts';

/** These tests open live event streams over real connections. Each numbered case has one table row. */
const times = {
  ...{ ...liveTimes, tickMs: 50, recheckMs: 100, heartbeatMs: 200 },
  // The limit is high, because a busy machine can interrupt a filter for a long time.
  filterMsPerSecond: 60_000,
};

interface Frame {
  event: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: messages have many shapes
  data: any;
  text: string;
}

class Client {
  readonly comments: string[] = [];
  readonly frames: Frame[] = [];
  text = '';
  isOver = false;
  readonly response: http.IncomingMessage;

  constructor(response: http.IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    let rest = '';
    response.on('data', (chunk: string) => {
      this.text += chunk;
      const parts = (rest + chunk).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) this.#take(part);
    });
    response.on('error', () => {});
    response.on('close', () => {
      this.isOver = true;
    });
  }

  #take(part: string): void {
    if (part.startsWith(':')) return void this.comments.push(part);
    const lines = part.split('\n');
    const event = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? null;
    const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
    this.frames.push({ event, data: data === undefined ? null : JSON.parse(data), text: part });
  }

  get events(): Frame['data'][] {
    return this.frames.filter(({ event, data }) => event === null && data !== null).map(({ data }) => data);
  }

  names(): (string | null)[] {
    return this.events.map(({ event, reason }) => event ?? reason);
  }

  notice(name: string): Frame['data'] {
    return this.frames.find(({ event }) => event === name)?.data;
  }

  close(): void {
    this.response.destroy();
  }
}

interface World {
  api: TestApi;
  log: EventLog;
  topic: string;
  stop(): Promise<void>;
}

const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

async function startWorld(
  kind: 'kafka' | 'postgres',
  options: Partial<LiveDeps> & { brokers?: string[] } = {},
): Promise<World> {
  const topicPrefix = uniqueTopicPrefix();
  const topics = topicNames(topicPrefix);
  const pools: SqlDatabase[] = [];
  let log: EventLog | undefined;
  const { brokers = kind === 'kafka' ? testServers().kafkaBrokers : [], ...deps } = options;
  const api = await startTestApi(
    { liveOrigins: ['https://shown.example', 'https://also.example'] },
    {
      openLive(parts) {
        const { logger, metrics, url } = parts;
        if (kind === 'kafka') log = createKafkaLog({ brokers, clientId: 'live-test', logger, fetchWaitMs: 100 });
        else {
          const pool = createSqlDatabase({ url, logger, poolSize: 3 });
          pools.push(pool);
          log = createPostgresLog({ database: pool, logger, pollIntervalMs: 50 });
        }
        const limits = { streamsPerUser: 10, streamsPerProject: 12, streamsPerProcess: 100, times };
        return createLive({ ...parts, ...limits, metrics, log, topics, topicPrefix, publishes: true, ...deps });
      },
    },
  );
  if (log === undefined) throw new Error('no log was opened');
  const opened = log;
  await opened.ensureTopics(Object.values(topics).map((topic) => ({ topic, partitions: 2 })));
  await untilThere(opened, Object.values(topics));
  return {
    ...{ api, log: opened, topic: topics.processed },
    async stop() {
      await api.stop();
      await opened.close();
      for (const pool of pools) await pool.stop();
    },
  };
}

async function untilThere(log: EventLog, topics: string[]): Promise<void> {
  for (const topic of topics) await eventually(() => log.endOffsets(topic));
}

/** Requests a stream. The response can also be an error. */
function ask(
  world: World,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(world.api.url + path, { method, headers, agent: false }, resolve);
    request.on('error', reject);
    request.end();
  });
}

const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const pathOf = ({ projectId }: { projectId: number }, query = '') => `/api/projects/${projectId}/live/events${query}`;

async function open(world: World, path: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client(await ask(world, path, headers));
  clients.push(client);
  if (client.response.statusCode !== 200) {
    await eventually(() => client.isOver);
    throw new Error(`${client.response.statusCode} ${client.text}`);
  }
  await eventually(() => client.text !== '');
  return client;
}

const watch = (world: World, tenant: TestTenant, query = '') =>
  open(world, pathOf(tenant, query), bearer(tenant.personalApiKey));

async function refusal(world: World, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await ask(world, path, headers, method);
  response.setEncoding('utf8');
  let text = '';
  if (response.headers['content-type'] === 'text/event-stream') {
    response.destroy();
    return { status: 200, headers: response.headers, body: null };
  }
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

function processed(tenant: { projectId: number }, event: Partial<ProcessedEvent> = {}): ProcessedEvent {
  const now = new Date().toISOString();
  return {
    version: processedEventVersion,
    uuid: randomUUID(),
    project_id: tenant.projectId,
    event: 'seen',
    distinct_id: 'ada',
    timestamp: now,
    captured_at: now,
    properties: {},
    elements_chain: '',
    person_id: randomUUID(),
    person_created_at: now,
    person_properties: {},
    person_mode: 'full',
    historical_migration: false,
    ...event,
  };
}

const publish = ({ log, topic }: World, ...events: ProcessedEvent[]) =>
  log.append(
    events.map((event) => ({ topic, key: processedEventKey(event), value: Buffer.from(JSON.stringify(event)) })),
  );

/**
 * Publishes an event and waits until the client has received it. By then, the client has also received all earlier
 * events.
 */
async function untilMarked(
  world: World,
  tenant: TestTenant,
  client: Client,
  event: Partial<ProcessedEvent> = {},
): Promise<void> {
  const mark = processed(tenant, { ...event, event: event.event ?? 'mark', person_id: personId });
  await publish(world, mark);
  await eventually(() => client.events.some(({ uuid }) => uuid === mark.uuid), {
    describe: () => client.text.slice(-500),
  });
}
const personId = randomUUID();
const ofOne = (tenant: TestTenant, event: Partial<ProcessedEvent>) =>
  processed(tenant, { person_id: personId, ...event });

describe.each(['postgres', 'kafka'] as const)('live-045: a live stream on %s', (kind) => {
  let world: World;
  let tenant: TestTenant;
  beforeAll(async () => {
    world = await startWorld(kind);
    tenant = await createTestTenant(world.api.database);
  });
  afterAll(() => world.stop());

  test('live-010, live-011, live-012: sends headers, first bytes and heartbeats, and each message on one line', async () => {
    const client = await watch(world, tenant);
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-store',
      'x-accel-buffering': 'no',
    });
    expect(client.frames[0]).toMatchObject({
      event: 'hello',
      data: { stored: true, dropped: true, why: null, lag_seconds: 0 },
    });
    const event = processed(tenant, { properties: { a: 1 } });
    await publish(world, event);
    await eventually(() => client.events.length > 0);
    const { uuid, timestamp, distinct_id, person_id, captured_at } = event;
    expect(client.events[0]).toEqual({
      ...{
        uuid,
        timestamp,
        distinct_id,
        person_id,
        event: 'seen',
        properties: { a: 1 },
        outcome: 'stored',
        captured_at,
      },
      stored_at: expect.any(String),
    });
    expect(client.frames.find(({ event: name }) => name === null)?.text).toMatch(/^data: [^\n]+$/);
    // live-035: heartbeats contain the lag, so that clients can tell an idle source from a stopped one.
    await eventually(() => client.comments.some((comment) => /^: lag [\d.]+s$/.test(comment)));
  });

  test('live-015: sends one frame of valid JSON for any characters in a name or property', async () => {
    const client = await watch(world, tenant);
    const text = 'a\nb\r\n\n\u2028\u2029\0</script>\ud83d data: x';
    await publish(world, processed(tenant, { event: text, properties: { [text]: text } }));
    await eventually(() => client.events.length > 0);
    expect(client.events[0]).toMatchObject({ event: text, properties: { [text]: text } });
  });

  test('live-016: sends an event only once if the log delivers it twice', async () => {
    const client = await watch(world, tenant);
    const twice = ofOne(tenant, {});
    await publish(world, twice, ofOne(tenant, { event: 'between' }));
    await publish(world, twice);
    await untilMarked(world, tenant, client);
    expect(client.names()).toEqual(['seen', 'between', 'mark']);
  });

  test('live-009: does not send events from other projects', async () => {
    const other = await createTestTenant(world.api.database);
    const client = await watch(world, tenant, `?distinctId=`);
    await publish(world, processed(other, { person_id: personId }));
    await untilMarked(world, tenant, client);
    expect(client.names()).toEqual(['mark']);
    expect((await refusal(world, pathOf(other), bearer(tenant.personalApiKey))).status).toBe(404);
  });
});

describe('individual live streams', () => {
  let world: World;
  let tenant: TestTenant;
  beforeAll(async () => {
    world = await startWorld('postgres');
    tenant = await createTestTenant(world.api.database);
  });
  afterAll(() => world.stop());
  const sql = () => world.api.database.sql;

  const claimsOf = (own: TestTenant, keyId: string) => ({
    team_id: own.projectId,
    api_token: own.projectApiKey,
    user_id: own.userId,
    key_id: keyId,
    iat: Date.now() / 1000,
    exp: Math.floor(Date.now() / 1000) + 3600,
    aud: 'posthog:livestream',
  });
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  function sign(
    claims: object,
    { alg = 'HS256', secret = testTokenSecrets[0] }: { alg?: string; secret?: string } = {},
  ) {
    const content = `${encode({ typ: 'JWT', alg })}.${encode(claims)}`;
    return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  }
  const keyOf = async (own: TestTenant): Promise<string> => {
    const [row] = await sql().query<{ id: string }>('SELECT id FROM personal_api_key WHERE user_id = $1', [own.userId]);
    return row?.id ?? '';
  };
  const tokenOf = async (own: TestTenant): Promise<string> =>
    (await world.api.get(`/api/projects/${own.projectId}/`, own.personalApiKey)).body.live_events_token;

  test('live-001, live-041: returns 401 for a live stream without a token in the Authorization header', async () => {
    const token = await tokenOf(tenant);
    const [head, body, signature] = token.split('.');
    const headers: Record<string, string>[] = [
      {},
      { authorization: `bearer ${token}` },
      { authorization: token },
      { authorization: `Bearer ${token} x` },
      { authorization: `Bearer ${token}.x` },
      { authorization: `Bearer ${head}.${body}.` },
      { authorization: `Bearer ${head}..${signature}` },
      { authorization: 'Bearer ' },
    ];
    for (const path of ['/events', '/stats', `/events?token=${token}`]) {
      for (const one of headers) {
        const { status, body: response } = await refusal(world, path, one);
        expect([one, status, response?.type]).toEqual([one, 401, 'authentication_error']);
      }
    }
    expect(await refusal(world, `/events?token=${token}`, bearer(token))).toMatchObject({
      status: 400,
      body: { code: 'unknown_parameter', attr: 'token' },
    });
    expect((await refusal(world, '/stats', bearer(token))).status).toBe(200);
  });

  const hour = () => Math.floor(Date.now() / 1000) + 3600;
  test.each<[string, (claims: ReturnType<typeof claimsOf>) => string]>([
    ['live-002 alg none', (claims) => sign(claims, { alg: 'none' })],
    ['live-002 alg RS256', (claims) => sign(claims, { alg: 'RS256' })],
    ['live-002 another secret', (claims) => sign(claims, { secret: 'an unknown secret' })],
    ['live-003 no audience', ({ aud: _aud, ...claims }) => sign(claims)],
    ['live-003 a wrong audience', (claims) => sign({ ...claims, aud: 'posthog:other' })],
    // Millrace's tokens always have a single audience.
    ['live-003 a list of audiences', (claims) => sign({ ...claims, aud: ['posthog:livestream'] })],
    ['live-004 expired a second ago', (claims) => sign({ ...claims, exp: Date.now() / 1000 - 1 })],
    ['live-004 no expiry', ({ exp: _exp, ...claims }) => sign(claims)],
    ['live-004 an expiry that is a string', (claims) => sign({ ...claims, exp: String(hour()) })],
    ...[String(1), 0, -1, 1.5, undefined].map((team_id): [string, (claims: object) => string] => [
      `live-005 team_id ${JSON.stringify(team_id)}`,
      (claims) => sign({ ...claims, team_id }),
    ]),
    ['live-005 an empty api_token', (claims) => sign({ ...claims, api_token: '' })],
    ['live-006 another api_token', (claims) => sign({ ...claims, api_token: 'phc_former' })],
    ['live-007 another user', (claims) => sign({ ...claims, user_id: claims.user_id + 1 })],
    ['live-042 a secret that is no longer configured', (claims) => sign(claims, { secret: 'removed from the list' })],
    ['live-047 an unknown key', (claims) => sign({ ...claims, key_id: randomUUID() })],
    ['live-047 no key', ({ key_id: _key, ...claims }) => sign(claims)],
  ])('%s: returns 401 for a live events token', async (_case, make) => {
    const token = make(claimsOf(tenant, await keyOf(tenant)));
    for (const path of ['/events', '/stats']) expect((await refusal(world, path, bearer(token))).status).toBe(401);
  });

  test('live-042: accepts a token signed with a previous secret that is still configured', async () => {
    const token = sign(claimsOf(tenant, await keyOf(tenant)), { secret: testTokenSecrets[1] });
    const client = await open(world, '/events', bearer(token));
    await untilMarked(world, tenant, client);
  });

  test('live-009, live-012: sends only events as messages to a client with a token, and ignores `teamId`', async () => {
    const other = await createTestTenant(world.api.database);
    const client = await open(world, `/events?teamId=${other.projectId}`, bearer(await tokenOf(tenant)));
    await publish(world, processed(other, { person_id: personId }));
    await storeWarning(sql(), tenant.projectId, {});
    await untilMarked(world, tenant, client);
    expect(client.frames.map(({ event }) => event)).toEqual([null]);
    expect(client.comments[0]).toMatch(/^: hello \{"stored":true/);
  });

  /** Changes that end access to an open stream. */
  const endings: [string, (own: TestTenant, member: { id: number }) => Promise<unknown>][] = [
    [
      'live-047 the key is deleted',
      (own) => sql().query('DELETE FROM personal_api_key WHERE user_id = $1', [own.userId]),
    ],
    [
      'live-047 the key is rolled',
      (own) => world.api.send('POST', '/api/personal_api_keys/@current/roll/', { key: own.personalApiKey, body: {} }),
    ],
    [
      'live-047 the key expires',
      (own) => sql().query('UPDATE personal_api_key SET expires_at = now() WHERE user_id = $1', [own.userId]),
    ],
    [
      'live-047 the key is limited to other projects',
      (own) => sql().query("UPDATE personal_api_key SET scoped_teams = '{1}' WHERE user_id = $1", [own.userId]),
    ],
    [
      'live-047 the key loses the scope event:read',
      (own) => sql().query("UPDATE personal_api_key SET scopes = '{flag:read}' WHERE user_id = $1", [own.userId]),
    ],
    ['live-007 the member is removed', (own) => sql().query('DELETE FROM membership WHERE user_id = $1', [own.userId])],
    [
      'live-007 the user is deactivated',
      (own) => sql().query('UPDATE "user" SET is_active = false WHERE id = $1', [own.userId]),
    ],
    [
      'live-007 the project becomes private',
      async (own) => {
        await sql().query('UPDATE membership SET level = 1 WHERE user_id = $1', [own.userId]);
        await sql().query('UPDATE environment SET access_control = true WHERE id = $1', [own.environmentId]);
      },
    ],
  ];
  test.each(endings)('%s: ends the stream, and rejects the token', async (_case, end) => {
    const own = await createTestTenant(world.api.database);
    const token = await tokenOf(own);
    const [byKey, byToken] = [await watch(world, own), await open(world, '/events', bearer(token))];
    await end(own, { id: own.userId });
    await eventually(() => byKey.isOver && byToken.isOver);
    expect(byKey.notice('bye')).toEqual({ reason: expect.stringMatching(/key|project/) });
    expect((await refusal(world, '/events', bearer(token))).status).toBe(401);
  });

  test('live-007, live-033: ends a stream when the session that opened it ends, and does not extend the session', async () => {
    const own = await createTestTenant(world.api.database);
    const cookie = await signInAs(world.api, own.userId);
    const seen = () => sql().query('SELECT last_seen_at FROM session WHERE user_id = $1', [own.userId]);
    const { live_events_token: token } = (await world.api.get(`/api/projects/${own.projectId}/`, cookie)).body;
    await sql().query("UPDATE session SET last_seen_at = now() - interval '4 minutes' WHERE user_id = $1", [
      own.userId,
    ]);
    const before = await seen();
    const [byCookie, byToken] = [
      await open(world, pathOf(own), { cookie, origin: world.api.url }),
      await open(world, '/events', bearer(token)),
    ];
    await eventually(() => byCookie.comments.length > 2);
    expect(await seen()).toEqual(before);
    await sql().query('DELETE FROM session WHERE user_id = $1', [own.userId]);
    await eventually(() => byCookie.isOver && byToken.isOver);
    expect(byCookie.notice('bye')).toEqual({ reason: 'The session has ended. Sign in again.' });
    expect((await refusal(world, '/events', bearer(token))).status).toBe(401);
  });

  test('live-006: ends only streams with a token when the project API key is rolled', async () => {
    const own = await createTestTenant(world.api.database);
    const [byKey, byToken] = [await watch(world, own), await open(world, '/events', bearer(await tokenOf(own)))];
    const reset = await world.api.send('PATCH', `/api/projects/${own.projectId}/reset_token/`, {
      key: own.personalApiKey,
    });
    expect(reset.status).toBe(200);
    await eventually(() => byToken.isOver);
    await untilMarked(world, own, byKey);
    expect(byKey.isOver).toBe(false);
  });

  test('live-046: returns 403 for a live stream without the required scope, and issues no token', async () => {
    const narrow = await createTestTenant(world.api.database, { scopes: ['project:read'] });
    expect(await refusal(world, pathOf(narrow), bearer(narrow.personalApiKey))).toMatchObject({ status: 403 });
    expect((await world.api.get(`/api/projects/${narrow.projectId}/`, narrow.personalApiKey)).body).toMatchObject({
      live_events_token: null,
    });
  });

  /**
   * The properties of the published events, by event name. Filters compare the property `p`, which one event does not
   * have.
   */
  const stored: Record<string, Record<string, unknown>> = {
    text: { p: 'Chrome' },
    other: { p: 'chrome mobile' },
    number: { p: 5 },
    digits: { p: '5' },
    true: { p: true },
    null: { p: null },
    absent: { q: 1 },
    'a b+ä': { p: ['Chrome'] },
  };
  const all = Object.keys(stored);
  const without = (...names: string[]) => all.filter((name) => !names.includes(name));
  const props = (...filters: object[]) => `?properties=${encodeURIComponent(JSON.stringify(filters))}`;
  test.each<[string, string, string[]]>([
    ['live-017 any of the names', '?eventType=text,number', ['text', 'number']],
    ['live-017 an unknown name', '?eventType=nothing', []],
    ['live-017 empty means all', '?eventType=', all],
    ['live-017 names with spaces and special characters', `?eventType=${encodeURIComponent('a b+ä')}`, ['a b+ä']],
    [
      'live-017 a distinct ID with spaces and special characters',
      `?distinctId=${encodeURIComponent('id a b+ä')}`,
      ['a b+ä'],
    ],
    ['live-017 a distinct ID in another case', `?distinctId=${encodeURIComponent('ID text')}`, []],
    ['live-022 excluded names', '?notEventType=text,other,nothing', without('text', 'other')],
    ['live-019 exact', props({ key: 'p', value: 'Chrome', operator: 'exact' }), ['text']],
    ['live-019 exact, a number and a string', props({ key: 'p', value: 5, operator: 'exact' }), ['number', 'digits']],
    ['live-019 exact, a list', props({ key: 'p', value: ['Chrome', '5'] }), ['text', 'number', 'digits']],
    [
      'live-019 is_not',
      props({ key: 'p', value: ['Chrome', 5], operator: 'is_not' }),
      without('text', 'number', 'digits'),
    ],
    ['live-019 icontains', props({ key: 'p', value: 'CHROME', operator: 'icontains' }), ['text', 'other', 'a b+ä']],
    [
      'live-019 not_icontains',
      props({ key: 'p', value: 'chrome', operator: 'not_icontains' }),
      without('text', 'other', 'a b+ä'),
    ],
    ['live-019 regex', props({ key: 'p', value: '^[Cc]hrome( |$)', operator: 'regex' }), ['text', 'other']],
    ['live-019 not_regex', props({ key: 'p', value: '^[Cc]hrome', operator: 'not_regex' }), without('text', 'other')],
    ['live-019 gt', props({ key: 'p', value: 4, operator: 'gt' }), ['number', 'digits']],
    ['live-019 gte', props({ key: 'p', value: 5, operator: 'gte' }), ['number', 'digits']],
    ['live-019 lt', props({ key: 'p', value: 5, operator: 'lt' }), []],
    ['live-019 lte', props({ key: 'p', value: '5', operator: 'lte' }), ['number', 'digits']],
    ['live-019 is_set', props({ key: 'p', operator: 'is_set' }), without('null', 'absent')],
    ['live-019 is_not_set', props({ key: 'p', operator: 'is_not_set' }), ['null', 'absent']],
    [
      'live-019 combined with AND',
      props({ key: 'p', operator: 'is_set' }, { key: 'p', value: '5' }),
      ['number', 'digits'],
    ],
    ['live-019 a person property', props({ key: 'plan', value: 'pro', type: 'person' }), ['number']],
  ])('filters the events of a live stream: %s', async (_case, query, expected) => {
    const [client, end] = [await watch(world, tenant, query), await watch(world, tenant)];
    const events = Object.entries(stored).map(([event, properties]) =>
      ofOne(tenant, {
        ...{ event, properties, distinct_id: `id ${event}` },
        person_properties: event === 'number' ? { plan: 'pro' } : {},
      }),
    );
    await publish(world, ...events);
    await untilMarked(world, tenant, end);
    await eventually(() => client.comments.length > 0 && client.names().length >= expected.length);
    expect(client.names().filter((name) => name !== 'mark')).toEqual(all.filter((name) => expected.includes(name)));
  });

  test.each<[string, string, object]>([
    ['live-018 absent', '', { a: 1, b: { c: 2 } }],
    ['live-018 empty', '?columns=', {}],
    ['live-018 listed', '?columns=b,x', { b: { c: 2 } }],
  ])('sends only the requested event properties: %s columns', async (_case, query, expected) => {
    const client = await watch(world, tenant, query);
    await publish(world, processed(tenant, { properties: { a: 1, b: { c: 2 } } }));
    await eventually(() => client.events.length > 0);
    expect(client.events[0].properties).toEqual(expected);
  });

  test.each<[string, string, string]>([
    ['live-020 broken JSON', '?properties=[', 'properties'],
    ['live-020 an unknown operator', props({ key: 'p', value: 1, operator: 'like' }), 'properties__0__operator'],
    [
      'live-021 a pattern with a backreference',
      props({ key: 'p', value: '(a)\\1', operator: 'regex' }),
      'properties__0__value',
    ],
    [
      'live-021 a pattern with too many repetitions',
      props({ key: 'p', value: '(a{1,200}){1,200}', operator: 'regex' }),
      'properties__0__value',
    ],
    [
      'live-021 a pattern that is too long',
      props({ key: 'p', value: 'x'.repeat(1001), operator: 'regex' }),
      'properties__0__value',
    ],
    ['an unknown parameter', '?evenType=x', 'evenType'],
  ])('%s: returns 400 for a live stream', async (_case, query, attr) => {
    const response = await refusal(world, pathOf(tenant, query), bearer(tenant.personalApiKey));
    expect([response.status, response.body?.attr]).toEqual([400, attr]);
  });

  test('live-021: a pattern that would backtrack does not delay other streams', async () => {
    const pattern = '(x+x+)+y';
    const client = await watch(world, tenant, props({ key: 'p', value: pattern, operator: 'regex' }));
    const other = await watch(world, tenant);
    await publish(world, ofOne(tenant, { properties: { p: 'x'.repeat(10_000) } }));
    await untilMarked(world, tenant, other);
    expect(client.events).toEqual([]);
  });

  test('live-022: excludes internal users by those filters that can be evaluated on a single event', async () => {
    const own = await createTestTenant(world.api.database);
    await sql().query('UPDATE environment SET test_account_filters = $2 WHERE id = $1', [
      own.environmentId,
      JSON.stringify([
        { key: 'email', value: '@example.com', operator: 'not_icontains', type: 'person' },
        { key: 'id', value: 3, type: 'cohort' },
      ]),
    ]);
    const [client, everybody] = [await watch(world, own, '?internal=false'), await watch(world, own)];
    expect(client.frames[0]?.data.ignored_filters).toBe(1);
    await publish(world, ofOne(own, { event: 'ours', person_properties: { email: 'a@example.com' } }), ofOne(own, {}));
    await untilMarked(world, own, client);
    expect(client.names()).toEqual(['seen', 'mark']);
    expect(everybody.names()).toEqual(['ours', 'seen', 'mark']);
  });

  test('live-023: reports in the first message that locations are not available', async () => {
    const [client, other] = [await watch(world, tenant, '?geo=true'), await watch(world, tenant)];
    await untilMarked(world, tenant, other);
    expect(client.notice('hello')).toMatchObject({ stored: false, why: expect.stringContaining('Location data') });
    expect(client.events).toEqual([]);
  });

  test('live-024: returns 405 for methods other than GET, and a stream for any Accept header', async () => {
    const headers = bearer(tenant.personalApiKey);
    for (const method of ['HEAD', 'POST', 'PUT']) {
      for (const path of [pathOf(tenant), '/events']) {
        expect([method, (await ask(world, path, headers, method)).statusCode]).toEqual([method, 405]);
      }
    }
    const client = await open(world, pathOf(tenant), { ...headers, accept: 'application/json' });
    expect(client.response.headers['content-type']).toBe('text/event-stream');
  });

  test('live-025: allows only pages from configured origins to read a stream with a token', async () => {
    const headers = bearer(await tokenOf(tenant));
    const listed = await refusal(world, '/stats', { ...headers, origin: 'https://shown.example' });
    expect(listed.headers).toMatchObject({ 'access-control-allow-origin': 'https://shown.example' });
    expect(listed.headers.vary).toMatch(/^Origin, /);
    expect(listed.headers).not.toHaveProperty('access-control-allow-credentials');
    const preflight = await refusal(world, '/events', { origin: 'https://shown.example' }, 'OPTIONS');
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'Authorization']);
    for (const [path, origin] of [
      ['/stats', 'https://other.example'],
      ['/stats', 'null'],
      [`/api/projects/${tenant.projectId}/live/stats`, 'https://shown.example'],
    ] as const) {
      const response = await refusal(world, path, {
        ...headers,
        ...bearer(path === '/stats' ? await tokenOf(tenant) : tenant.personalApiKey),
        origin,
      });
      expect([path, origin, response.status]).toEqual([path, origin, 200]);
      expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  test('live-026: allows ten streams per user and twelve per environment, and rejects further streams', async () => {
    const own = await createTestTenant(world.api.database);
    const first = await watch(world, own);
    const [before, ...more] = await Promise.all(Array.from({ length: 9 }, () => watch(world, own)));
    const eleventh = await refusal(world, pathOf(own), bearer(own.personalApiKey));
    expect(eleventh).toMatchObject({ status: 429, headers: { 'retry-after': '10' }, body: { code: 'throttled' } });
    const colleague = await createUser(sql(), { email: `${randomUUID()}@example.com` });
    await addMember(sql(), { organizationId: own.organizationId, userId: colleague.id, level: 1 });
    const key = { actor: null, userId: colleague.id, label: 'k', scopes: ['*' as const] };
    const { value } = await createPersonalApiKey(sql(), key);
    for (let count = 0; count < 2; count += 1) await open(world, pathOf(own), bearer(value));
    expect((await refusal(world, pathOf(own), bearer(value))).status).toBe(429);
    await untilMarked(world, own, first);
    // live-031: after a stream was closed, another can be opened.
    for (const one of [before, ...more]) one?.close();
    await eventually(async () => (await refusal(world, pathOf(own), bearer(own.personalApiKey))).status === 200);
  });

  test("live-027, live-028: reports to a slow client how many events it missed, and limits the client's buffer", async () => {
    const own = await createTestTenant(world.api.database);
    const [slow, quick] = [await watch(world, own), await watch(world, own)];
    slow.response.pause();
    const large = 'x'.repeat(400_000);
    // Send more than the operating system can buffer, but so slowly that the stream does not switch to showing a
    // sample.
    for (let count = 0; !slow.isOver && count < 60; count += 1) {
      await untilMarked(world, own, quick, { event: 'large', properties: { large } });
    }
    slow.response.resume();
    await eventually(() => slow.notice('gap') !== undefined);
    await untilMarked(world, own, slow);
    const reported = slow.frames.filter(({ event }) => event === 'gap').reduce((sum, { data }) => sum + data.missed, 0);
    expect(reported).toBe(60 - slow.names().filter((name) => name === 'large').length);
    expect(quick.notice('gap')).toBeUndefined();
  });

  test('live-029, live-030: sends a sample of many events and the share that it contains, without delaying other projects', async () => {
    const [busy, quiet] = [await createTestTenant(world.api.database), await createTestTenant(world.api.database)];
    const [client, other] = [await watch(world, busy), await watch(world, quiet)];
    await publish(world, ...Array.from({ length: 500 }, () => ofOne(busy, {})));
    await untilMarked(world, quiet, other);
    await eventually(() => client.notice('share') !== undefined);
    expect(client.notice('share').share).toBeLessThan(1);
    await eventually(() => client.frames.some(({ event, data }) => event === 'share' && data.share === 1));
    await untilMarked(world, busy, client);
  });

  test('live-036: ignores Last-Event-ID and starts the stream with new events', async () => {
    const event = ofOne(tenant, {});
    const earlier = await watch(world, tenant);
    await publish(world, event);
    // The second stream starts after the first has received this warning, and must therefore not receive it.
    await untilMarked(world, tenant, earlier);
    const client = await open(world, pathOf(tenant), { ...bearer(tenant.personalApiKey), 'last-event-id': event.uuid });
    await untilMarked(world, tenant, client);
    expect(client.names()).toEqual(['mark']);
  });

  test('live-037, live-038, live-039: statistics count recently active users by arrival time, without imports', async () => {
    const own = await createTestTenant(world.api.database);
    const statsPath = `/api/projects/${own.projectId}/live/stats`;
    const noActivity = {
      users_on_product: 0,
      active_recordings: 0,
      window_seconds: 60,
      lag_seconds: expect.any(Number),
    };
    expect((await world.api.get(statsPath, own.personalApiKey)).body).toEqual(noActivity);
    const now = new Date().toISOString();
    await createMonths(sql(), now.slice(0, 7), now.slice(0, 7));
    for (const distinctId of ['ada', 'ada', 'bob', 'import', 'late']) {
      const uuid = await storeEvent(sql(), own.projectId, { distinctId, timestamp: now });
      if (distinctId === 'import')
        await sql().query('UPDATE event SET historical_migration = true WHERE uuid = $1', [uuid]);
      if (distinctId === 'late')
        await sql().query("UPDATE event SET captured_at = now() - interval '61 seconds' WHERE uuid = $1", [uuid]);
    }
    await eventually(async () => {
      const byKey = await world.api.get(statsPath, own.personalApiKey);
      const byToken = await world.api.get('/stats', await tokenOf(own));
      expect([byKey.body, byToken.body]).toEqual([byKey.body, byKey.body]);
      expect(byKey.body).toEqual({ ...noActivity, users_on_product: 2 });
    });
  });

  test('live-043: reports dropped and changed events with their reason and rule, but without properties', async () => {
    const client = await watch(world, tenant);
    const other = await createTestTenant(world.api.database);
    await storeWarning(sql(), other.projectId, {});
    await storeWarning(sql(), tenant.projectId, {
      type: 'missing_distinct_id',
      details: { samples: [{ index: 1, uuid: 'u-1', event: 'checkout' }] },
    });
    await eventually(() => client.events.length > 0);
    expect(client.events).toEqual([
      {
        ...{ uuid: 'u-1', event: 'checkout', distinct_id: null, person_id: null, properties: {} },
        ...{ outcome: 'dropped', reason: 'missing_distinct_id', severity: 'error', count: expect.any(Number) },
        timestamp: expect.any(String),
        details: { samples: [{ index: 1, uuid: 'u-1', event: 'checkout' }] },
        detail: expect.stringContaining('distinct_id'),
        rule: 'docs/wire-rules.md#dropped-events',
      },
    ]);
  });

  test('live-043: omits dropped events if the key cannot read warnings', async () => {
    const own = await createTestTenant(world.api.database, { scopes: ['event:read'] });
    const client = await watch(world, own);
    expect(client.notice('hello')).toMatchObject({ stored: true, dropped: false });
    await storeWarning(sql(), own.projectId, {});
    await untilMarked(world, own, client);
    expect(client.names()).toEqual(['mark']);
  });

  test('live-044: sends events of historical migrations only on request', async () => {
    const [client, asking] = [await watch(world, tenant), await watch(world, tenant, '?historical=true')];
    await publish(world, ofOne(tenant, { event: 'import', historical_migration: true }));
    await untilMarked(world, tenant, client);
    await eventually(() => asking.names().includes('mark'));
    expect([client.names(), asking.names()]).toEqual([['mark'], ['import', 'mark']]);
  });
});

test('live-040: if events are not published, the first message names the setting, and dropped events are still shown', async () => {
  const world = await startWorld('postgres', { publishes: false });
  try {
    const tenant = await createTestTenant(world.api.database);
    const client = await watch(world, tenant);
    expect(client.notice('hello')).toMatchObject({
      stored: false,
      why: expect.stringContaining('PUBLISH_PROCESSED=on'),
    });
    await storeWarning(world.api.database.sql, tenant.projectId, {});
    await eventually(() => client.names().includes('missing_distinct_id'));
  } finally {
    await world.stop();
  }
});

test('live-034: returns 503 for live events if no event log is configured', async () => {
  const api = await startTestApi();
  try {
    const tenant = await createTestTenant(api.database);
    const responses = await Promise.all(
      ['events', 'stats'].map((name) =>
        api.get(`/api/projects/${tenant.projectId}/live/${name}`, tenant.personalApiKey),
      ),
    );
    for (const response of responses) {
      expect(response).toMatchObject({
        status: 503,
        body: { code: 'live_events_off', detail: expect.stringContaining('EVENT_LOG') },
      });
    }
  } finally {
    await api.stop();
  }
});

test('live-026: limits the streams of a process, and accepts a new stream after one was closed', async () => {
  const metrics = createMetrics({ withProcessMetrics: false });
  const world = await startWorld('postgres', { streamsPerProcess: 2, metrics });
  try {
    const tenants = [await createTestTenant(world.api.database), await createTestTenant(world.api.database)] as const;
    const [first] = await Promise.all(tenants.map((tenant) => watch(world, tenant)));
    const [path, key] = [pathOf(tenants[1]), bearer(tenants[1].personalApiKey)];
    expect(await refusal(world, path, key)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '10' },
      body: { code: 'live_streams_taken', detail: expect.stringContaining('All 2 live event streams') },
    });
    expect(await metrics.registry.metrics()).toContain('millrace_live_refused_total{limit="process"} 1');
    first?.close();
    await eventually(async () => (await refusal(world, path, key)).status === 200);
  } finally {
    await world.stop();
  }
});

test.each([
  { end: 'session', sql: 'DELETE FROM session WHERE user_id = $1', bySession: true, byKey: false },
  { end: 'key', sql: 'DELETE FROM personal_api_key WHERE user_id = $1', bySession: false, byKey: true },
  { end: 'membership', sql: 'DELETE FROM membership WHERE user_id = $1', bySession: true, byKey: true },
])(
  'sso-172, live-007: ends the stream when a $end ends, before the next complete access check',
  async ({ sql, ...ends }) => {
    const world = await startWorld('postgres', { times: { ...times, checkMs: 100, recheckMs: 600_000 } });
    const own = await createTestTenant(world.api.database);
    const cookie = await signInAs(world.api, own.userId);
    const bySession = await open(world, pathOf(own), { cookie, origin: world.api.url });
    const byKey = await watch(world, own);
    const unaffected = await watch(world, await createTestTenant(world.api.database));
    await world.api.database.sql.query(sql, [own.userId]);
    await eventually(() => expect([bySession.isOver, byKey.isOver]).toEqual([ends.bySession, ends.byKey]));
    expect(unaffected.isOver).toBe(false);
    for (const client of [bySession, byKey, unaffected]) client.close();
    await world.stop();
  },
);

test('after a filter has used up its time, skips events until the next second and reports the share shown', async () => {
  const world = await startWorld('postgres', { times: { ...times, filterMsPerSecond: 0 } });
  const own = await createTestTenant(world.api.database);
  const client = await watch(world, own);
  await publish(world, ...Array.from({ length: 5 }, () => ofOne(own, {})));
  await eventually(() => client.notice('share') !== undefined);
  expect(client.notice('share').share).toBeLessThan(1);
  expect(client.names().length).toBeLessThan(5);
  client.close();
  await world.stop();
});

test('live-032, live-033: ends streams after half an hour and when the process stops, and sends clients a retry time', async () => {
  const world = await startWorld('postgres', { times: { ...times, longestMs: 1 } });
  const tenant = await createTestTenant(world.api.database);
  const client = await watch(world, tenant);
  await eventually(() => client.isOver);
  expect(client.notice('bye')).toEqual({ reason: expect.stringContaining('30 minutes') });
  await world.stop();

  const stopping = await startWorld('postgres');
  const other = await watch(stopping, await createTestTenant(stopping.api.database));
  await stopping.stop();
  await eventually(() => other.isOver);
  const retry = Number(/^retry: (\d+)$/m.exec(other.text)?.[1]);
  expect([retry >= 1000, retry <= 10_000]).toEqual([true, true]);
  expect(other.notice('bye')).toEqual({ reason: 'The service is shutting down. Reconnect in a few seconds.' });
});

describe('live-008, live-034: a live stream during failures of the database and the log', () => {
  let world: World;
  let tenant: TestTenant;
  let proxy: FaultProxy;
  let pool: SqlDatabase;
  beforeAll(async () => {
    const address = new URL(testServers().databaseUrl);
    proxy = await createFaultProxy({ targetHost: address.hostname, targetPort: Number(address.port || 5432) });
    const topicPrefix = uniqueTopicPrefix();
    const topics = topicNames(topicPrefix);
    let log: EventLog | undefined;
    const api = await startTestApi(
      {},
      {
        openLive({ url, sql, logger, metrics }) {
          const far = new URL(url);
          far.host = `${proxy.host}:${proxy.port}`;
          const limits = { poolSize: 3, connectTimeoutMs: 500, queryTimeoutMs: 1000 };
          pool = createSqlDatabase({ url: far.toString(), logger, ...limits });
          log = createPostgresLog({ database: pool, logger, pollIntervalMs: 50 });
          const slots = { streamsPerUser: 10, streamsPerProject: 12, streamsPerProcess: 100, times };
          return createLive({ sql, logger, metrics, ...slots, log, topics, topicPrefix, publishes: true });
        },
      },
    );
    if (log === undefined) throw new Error('no log was opened');
    const opened = log;
    await opened.ensureTopics(Object.values(topics).map((topic) => ({ topic, partitions: 1 })));
    world = { api, log: opened, topic: topics.processed, stop: async () => {} };
    tenant = await createTestTenant(api.database);
  });
  afterAll(async () => {
    await world.api.stop();
    await world.log.close();
    await pool.stop();
    await proxy.stop();
  });

  test('live-034: returns 503 if the log fails at the start, and reports a later failure without ending the stream', async () => {
    await proxy.refuse();
    expect((await refusal(world, pathOf(tenant), bearer(tenant.personalApiKey))).status).toBe(503);
    await proxy.pass();
    const client = await eventually(() => watch(world, tenant));
    await untilMarked(world, tenant, client);
    await proxy.refuse();
    await eventually(() => client.notice('trouble') !== undefined);
    expect(client.notice('trouble')).toEqual({ detail: 'The event log does not respond.' });
    await proxy.pass();
    await eventually(() => publish(world, ofOne(tenant, { event: 'again' })));
    await eventually(() => client.names().includes('again'));
    expect(client.isOver).toBe(false);
  });

  test('live-008: ends a stream if its access cannot be checked', async () => {
    const client = await watch(world, tenant);
    const { sql, transaction } = world.api.database;
    await transaction(async (tx) => {
      await tx.query('LOCK TABLE personal_api_key IN ACCESS EXCLUSIVE MODE');
      await eventually(async () => {
        await sql.query(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%last_rolled_at%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()",
        );
        return client.isOver;
      });
    });
    expect(client.notice('bye')).toEqual({ reason: expect.stringContaining('could not verify your access') });
  });
});
