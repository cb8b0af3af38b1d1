import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { consumerGroup, topicNames } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createKafkaLog, type EventLog } from '@millrace/event-log';
import { deleteTopics } from '@millrace/event-log/testing/delete-topics';
import { createLogger } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestTenant,
  eventually,
  patienceMs,
  startPoolerWithoutListen,
  type TestDatabase,
  testCertificates,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import { runCli } from '../program.ts';
import type { NamedFinding } from './checks.ts';
import { checkOpenTransactions } from './postgres.ts';
import { doctorSettingsSchema } from './settings.ts';

const logger = createLogger('test', 'error');
const servers = testServers();
const prefix = uniqueTopicPrefix();
const names = topicNames(prefix);
const madeTopics: string[] = [];
let testDatabase: TestDatabase;
let database: Database;
let env: Record<string, string>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger, poolSize: 3 });
  env = {
    ...{ DATABASE_URL: testDatabase.url, REDIS_URL: servers.redisUrl, EVENT_LOG: 'kafka' },
    ...{ KAFKA_BROKERS: servers.kafkaBrokers.join(','), TOPIC_PREFIX: prefix, TOPIC_PARTITIONS: '2' },
  };
  await makeTopics(Object.values(names));
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
  await deleteTopics(servers.kafkaBrokers, madeTopics);
});

function openLog(topicConfig: Record<string, string> = {}): EventLog {
  return createKafkaLog({
    brokers: servers.kafkaBrokers,
    clientId: 'doctor-test',
    logger,
    topicConfig,
    appendTimeoutMs: patienceMs,
    // With a short timeout, even a healthy member could be removed from its group on a busy machine.
    sessionTimeoutMs: 60_000,
  });
}

async function makeTopics(topics: string[], topicConfig?: Record<string, string>): Promise<void> {
  const log = openLog(topicConfig);
  await log.ensureTopics(topics.map((topic) => ({ topic, partitions: 2 })));
  await log.close();
  madeTopics.push(...topics);
}

async function doctor(changed: Record<string, string | undefined> = {}, ...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli(['doctor', '--json', ...args], {
    env: { ...env, ...changed },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  const text = out.join('');
  return { exitCode, text, findings: text === '' ? [] : (JSON.parse(text) as NamedFinding[]), err: err.join('') };
}

const finding = (check: string, state: string, found: string) =>
  expect.objectContaining({ check, state, found: expect.stringContaining(found) });
const inPostgres = { EVENT_LOG: 'postgres', KAFKA_BROKERS: undefined, REDIS_URL: undefined };

test('doctor reports no problems for a healthy installation, and prints at least one finding per check', async () => {
  const log = openLog();
  const groups = [names.live, names.historical, names.overflow].map(async (topic, at) =>
    log.consume({
      ...{ topic, group: consumerGroup((['live', 'historical', 'overflow'] as const)[at] ?? 'live', prefix) },
      ...{ maxBatchRecords: 10, maxBatchBytes: 1000, partitionConcurrency: 1 },
      startOffset: async () => null,
      handler: async ({ records }) => ({ outcome: 'done', nextOffset: (records.at(-1)?.offset ?? 0n) + 1n }),
      onFatal: () => {},
    }),
  );
  const consumers = await Promise.all(groups);
  try {
    await Promise.all(consumers.map(({ ready }) => ready));
    // Repeat the command, because on a busy machine, a server can take longer than a check's time limit.
    const { exitCode, findings, err } = await eventually(async () => {
      const report = await doctor();
      expect(report.findings.filter(({ state }) => state === 'problem')).toEqual([]);
      return report;
    });
    expect([exitCode, err]).toEqual([0, '']);
    expect(findings.map(({ check, state }) => `${state} ${check}`)).toEqual([
      ...['ok settings', 'ok certificates'],
      ...['ok postgresql server', 'ok postgresql migrations', 'ok postgresql privileges', 'ok postgresql connections'],
      ...['ok postgresql transactions', 'ok postgresql notifications'],
      // The state of this finding is not `ok`, because the test servers run without durability.
      expect.stringMatching(/postgresql durability/),
      expect.stringMatching(/postgresql replication/),
      ...[
        'ok postgresql storage',
        'ok postgresql cleaning',
        'ok clock',
        'ok secrets',
        'ok flags',
        'ok postgresql certificate',
      ],
      ...['ok redis', 'ok redis', 'ok redis certificate'],
      ...['ok kafka', 'ok kafka topics', 'warning kafka replicas'],
      // The state of this finding depends on the machine's free disk space.
      expect.stringMatching(/kafka disks/),
      ...['ok kafka record size', 'ok kafka retention'],
      ...['ok consumers', 'ok stored offsets', 'ok kafka certificates'],
    ]);
    expect(findings).toContainEqual(finding('postgresql storage', 'ok', 'the database has'));
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'kafka disks',
        found: expect.stringMatching(/^broker \d+, \/.* has .*iB of .*iB left/),
      }),
    );
    expect(findings).toContainEqual(finding('consumers', 'ok', `${names.live} (consumers: 1, partitions: 2)`));
  } finally {
    await Promise.all(consumers.map(({ stop }) => stop()));
    await log.close();
  }
});

test('doctor prints each finding with its advice on one line, and exits with code 2 for invalid arguments', async () => {
  const out: string[] = [];
  const terminal = { env: { ...env, ...inPostgres }, out: { write: (text: string) => out.push(text) } };
  expect(await runCli(['doctor'], { ...terminal, err: { write() {} } })).toBe(0);
  expect(out.join('')).toMatch(/^ok {7}settings: no contradictions found\n/);
  expect(await doctor({ DATABASE_URL: undefined })).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('DATABASE_URL'),
  });
  expect((await doctor({}, '--nonsense')).exitCode).toBe(2);
});

const unreachableRedis = 'redis://:s3cret-of-redis@127.0.0.1:1';
const unreachableMailServer = 'smtp://millrace:s3cret-of-mail@127.0.0.1:1';

test('doctor still checks the reachable stores if others are unreachable, and does not print secrets', async () => {
  const url = new URL(testDatabase.url);
  url.port = '1';
  const unreachable = {
    DATABASE_URL: url.toString(),
    REDIS_URL: unreachableRedis,
    KAFKA_BROKERS: '127.0.0.1:1',
    SMTP_URL: unreachableMailServer,
  };
  const { exitCode, findings, text, err } = await doctor({ ...unreachable, SECRETS_KEY: 'not-a-key-but-secret' });
  expect(findings).toEqual([
    finding('settings', 'problem', 'SECRETS_KEY is not valid'),
    finding('certificates', 'ok', ''),
    finding('postgresql server', 'problem', 'does not respond'),
    finding('postgresql certificate', 'ok', 'do not use TLS'),
    finding('redis', 'problem', 'does not respond'),
    finding('redis certificate', 'ok', 'do not use TLS'),
    finding('kafka', 'problem', 'does not respond'),
    finding('kafka certificates', 'ok', 'do not use TLS'),
    finding('mail server', 'problem', 'does not respond'),
  ]);
  expect([exitCode, JSON.parse(err)]).toEqual([1, { error: 'found 5 problems', exitCode: 1 }]);
  for (const secret of ['s3cret-of', 'not-a-key-but-secret', url.password]) expect(text).not.toContain(secret);
  expect((await doctor({ ...unreachable, DATABASE_URL: testDatabase.url })).findings).toContainEqual(
    finding('postgresql migrations', 'ok', 'none pending'),
  );
});

const key = Buffer.alloc(32, 1).toString('base64');

test.each<[string, Record<string, string | undefined>, [string, string, string]]>([
  ['a fallback without Kafka', { EVENT_LOG_FALLBACK: 'postgres' }, ['settings', 'problem', 'EVENT_LOG_FALLBACK']],
  ['https without a proxy', { PUBLIC_API_URL: 'https://a.example' }, ['settings', 'warning', 'TRUST_PROXY']],
  [
    'a body limit larger than the memory limit',
    { MAX_IN_FLIGHT_BYTES: '1000' },
    ['settings', 'warning', 'MAX_IN_FLIGHT_BYTES (1000)'],
  ],
  [
    'an event limit larger than the body limit',
    { MAX_BODY_BYTES: '1000' },
    ['settings', 'warning', 'MAX_BODY_BYTES (1000)'],
  ],
  ['a password sent without TLS', { KAFKA_SASL_MECHANISM: 'plain' }, ['settings', 'warning', 'KAFKA_SSL']],
  [
    'a decompressed body limit that is too small',
    { MAX_DECOMPRESSED_BYTES: '1000' },
    ['settings', 'warning', 'MAX_DECOMPRESSED_BYTES'],
  ],
  [
    'proxy hops without a trusted proxy',
    { TRUST_PROXY: 'false', PROXY_HOPS: '2' },
    ['settings', 'warning', 'PROXY_HOPS is 2'],
  ],
  [
    'an API that requests definitions from itself',
    { INGEST_URL: 'https://a.example/', PUBLIC_API_URL: 'https://a.example' },
    ['settings', 'warning', 'INGEST_URL and PUBLIC_API_URL have the same address'],
  ],
  [
    'an hourly limit that makes the limit per minute useless',
    { API_REQUESTS_PER_HOUR: '100' },
    ['settings', 'warning', 'API_REQUESTS_PER_MINUTE (480)'],
  ],
  [
    'a session timeout that brokers reject',
    { EVENT_LOG: 'kafka', KAFKA_BROKERS: '127.0.0.1:1', KAFKA_SESSION_TIMEOUT_MS: '3000' },
    ['settings', 'warning', 'KAFKA_SESSION_TIMEOUT_MS (3000)'],
  ],
  [
    'Kafka settings that are not used',
    { KAFKA_BROKERS: '127.0.0.1:1' },
    ['settings', 'warning', 'but Kafka is not used'],
  ],
  [
    'trace sampling without an exporter',
    { TRACE_SAMPLE_RATIO: '0.5' },
    ['settings', 'warning', 'TRACE_SAMPLE_RATIO without'],
  ],
  [
    'a connection pool that is too large',
    { DATABASE_POOL_SIZE: '10000' },
    ['postgresql connections', 'warning', 'may open 10000'],
  ],
  ['an invalid mail server URL', { SMTP_URL: 'mail:25' }, ['mail server', 'problem', 'SMTP_URL is not']],
  ['a sender address at localhost', { SMTP_URL: 'smtp://127.0.0.1:1' }, ['settings', 'warning', 'SMTP_FROM']],
  ['a missing public URL', { NODE_ENV: 'production' }, ['settings', 'warning', 'PUBLIC_API_URL is not set']],
  ['a missing token secret', { NODE_ENV: 'production' }, ['settings', 'warning', 'TOKEN_SECRET']],
  ['a missing secrets key', { NODE_ENV: 'production' }, ['settings', 'warning', 'SECRETS_KEY']],
  [
    'private destinations in production',
    { NODE_ENV: 'production', ALLOW_PRIVATE_DESTINATIONS: 'true' },
    ['settings', 'warning', 'ALLOW_PRIVATE_DESTINATIONS'],
  ],
  [
    'missing event log settings',
    { EVENT_LOG: undefined, KAFKA_BROKERS: undefined },
    ['event log', 'warning', 'was not checked'],
  ],
  ['an invalid setting', { TOPIC_PARTITIONS: 'many' }, ['settings', 'problem', 'TOPIC_PARTITIONS must be']],
  ['an invalid Redis URL', { REDIS_URL: 'redis://a,b' }, ['redis', 'problem', 'REDIS_MODE']],
  [
    'an invalid broker address',
    { EVENT_LOG: 'kafka', KAFKA_BROKERS: 'nowhere' },
    ['kafka', 'problem', 'KAFKA_BROKERS'],
  ],
  [
    'an invalid certificate file',
    { REDIS_CA_FILE: testCertificates.noCertificateFile },
    ['certificates', 'problem', 'REDIS_CA_FILE'],
  ],
])('doctor reports %s', async (_what, changed, expected) => {
  const { findings } = await doctor({ ...inPostgres, ...changed });
  expect(findings).toContainEqual(finding(...expected));
});

test.each<[string, Record<string, string>, string[]]>([
  ['gateway', { GATEWAY_ROLES: 'ingest,flags' }, ['SECRETS_KEY']],
  ['consumer', { CONSUMER_TOPICS: 'live', HEALTH_PORT: '8001' }, []],
  ['delivery worker', { HEALTH_PORT: '8021' }, ['SECRETS_KEY']],
  ['management API', { API_PORT: '8010' }, ['TOKEN_SECRET', 'SECRETS_KEY']],
])('in the pod of a %s, doctor requires only the secrets of that service', async (_, own, expected) => {
  const pod = { NODE_ENV: 'production', KUBERNETES_SERVICE_HOST: '10.0.0.1', ...own };
  const { findings } = await doctor({ ...inPostgres, ...pod });
  const missing = findings.flatMap(({ found }) => /^(\w+_(?:SECRET|KEY)) is not set/.exec(found)?.[1] ?? []);
  expect(missing).toEqual(expected);
});

test('doctor reports pending and unknown migrations', async () => {
  const empty = await createTestDatabase({ isMigrated: false });
  try {
    const { exitCode, findings } = await doctor({ ...inPostgres, DATABASE_URL: empty.url });
    expect(findings).toContainEqual(finding('postgresql migrations', 'problem', 'migrations not applied: 2'));
    expect(exitCode).toBe(1);
  } finally {
    await empty.drop();
  }
  await database.sql.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, finished_at, migration_name) VALUES ('x', 'x', now(), '2999_newer')`,
  );
  expect((await doctor(inPostgres)).findings).toContainEqual(finding('postgresql migrations', 'warning', '2999_newer'));
  await database.sql.query(`DELETE FROM "_prisma_migrations" WHERE id = 'x'`);
});

test('doctor reports a database role that is read-only and cannot see the transactions of other roles', async () => {
  const role = `doctor_${randomUUID().replaceAll('-', '')}`;
  await database.sql.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
  try {
    await database.sql.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
    await database.sql.query(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    const url = new URL(testDatabase.url);
    [url.username, url.password] = [role, 'p'];
    const { findings } = await doctor({ ...inPostgres, DATABASE_URL: url.toString() });
    expect(findings).toEqual(
      expect.arrayContaining([
        finding('postgresql server', 'problem', 'transactions are read-only'),
        finding('postgresql privileges', 'problem', 'CREATE on the schema, ownership of event'),
        finding('postgresql privileges', 'warning', 'cannot see the transactions of'),
      ]),
    );
  } finally {
    await database.sql.query(`DROP OWNED BY ${role}`);
    await database.sql.query(`DROP ROLE ${role}`);
  }
});

test('doctor reports a transaction that has been open for too long', async () => {
  await database.transaction(async (tx) => {
    await tx.query('SELECT 1');
    const [found] = await checkOpenTransactions(database.sql, { longerThanSeconds: 0 });
    expect(found).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/transactions open for .*\(millrace, idle in trans/),
    });
  });
});

test('doctor reports a pooler that does not forward notifications', async () => {
  const pooler = await startPoolerWithoutListen(testDatabase.url);
  const url = new URL(testDatabase.url);
  url.port = String(pooler.port);
  const { findings } = await doctor({ ...inPostgres, DATABASE_URL: url.toString() });
  expect(findings).toContainEqual(finding('postgresql notifications', 'warning', 'LISTEN does not work'));
  await pooler.stop();
});

test('doctor reports a replication slot without a reader', async () => {
  const slot = `doctor_${randomUUID().replaceAll('-', '')}`;
  await database.sql.query('SELECT pg_create_physical_replication_slot($1, true)', [slot]);
  try {
    const { findings } = await doctor(inPostgres);
    expect(findings).toContainEqual(finding('postgresql replication', 'warning', slot));
  } finally {
    await database.sql.query('SELECT pg_drop_replication_slot($1)', [slot]);
  }
});

test('doctor reports secrets that no configured key can decrypt, and unencrypted secrets', async () => {
  const { environmentId } = await createTestTenant(testDatabase.url);
  const add = (secrets: object) =>
    database.prisma.batch_export.create({
      data: {
        ...{ id: randomUUID(), environment_id: environmentId, name: 'x', destination_type: 'S3', interval: 'hour' },
        destination_secrets: secrets,
      },
    });
  await add({ sealed: 'v1:lostkey:x' });
  await add({ secret: 'in the clear' });
  const without = await doctor(inPostgres);
  expect(without.findings).toContainEqual(finding('secrets', 'problem', 'SECRETS_KEY is not set'));
  const { findings } = await doctor({ ...inPostgres, SECRETS_KEY: key });
  expect(findings).toEqual(
    expect.arrayContaining([
      finding('secrets', 'problem', 'encrypted with lostkey'),
      finding('secrets', 'warning', 'stored unencrypted, in the database and its backups: 1'),
    ]),
  );
  await database.prisma.batch_export.deleteMany();
});

test('doctor reports a flag that an SDK evaluates differently, if recent events came from that SDK', async () => {
  const add = async (lib: string) => {
    const { environmentId } = await createTestTenant(testDatabase.url);
    await database.sql.query(
      `INSERT INTO feature_flag (project_id, key, filters) VALUES ($1, 'held-out', '{"groups": [{}], "holdout": {"id": 1}}')`,
      [environmentId],
    );
    await database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES ($1, '2014-01-01Z', gen_random_uuid(), 'e', 'd', gen_random_uuid(), jsonb_build_object('$lib', $2::text), now())`,
      [environmentId, lib],
    );
    return environmentId;
  };
  const [ofGo, ofPython] = [await add('posthog-go'), await add('posthog-python')];
  const { findings } = await doctor(inPostgres);
  const flags = findings.filter(({ check }) => check === 'flags');
  expect(flags).toEqual([
    finding('flags', 'warning', `project ${ofGo}: posthog-go, posthog-ruby and posthog-php do not support holdouts`),
  ]);
  expect(flags[0]?.found).toContain('Flags: held-out');
  expect(JSON.stringify(flags)).not.toContain(`project ${ofPython}:`);
  await database.prisma.feature_flag.deleteMany();
});

test('doctor reports missing topics, and partition counts that differ from the setting', async () => {
  const { findings, exitCode } = await doctor({ TOPIC_PREFIX: 'nowhere.' });
  expect(findings).toContainEqual(finding('kafka topics', 'problem', 'missing topics: nowhere.events.live'));
  expect(exitCode).toBe(1);
  expect((await doctor({ TOPIC_PARTITIONS: '4' })).findings).toContainEqual(
    finding('kafka topics', 'warning', `${names.live} has 2 partitions, but TOPIC_PARTITIONS is 4`),
  );
});

test('doctor reports topic settings that lose or reject events, and topics that nothing consumes', async () => {
  const own = uniqueTopicPrefix();
  const { live, ...others } = topicNames(own);
  await makeTopics([live], {
    'max.message.bytes': '500000',
    'cleanup.policy': 'compact',
    'retention.ms': '-1',
    'retention.bytes': '1000000000',
  });
  await makeTopics(Object.values(others));
  const log = openLog();
  await log.append([{ topic: live, key: 'k', value: Buffer.from('{}') }]);
  await log.close();
  const { findings } = await doctor({ TOPIC_PREFIX: own });
  expect(findings).toEqual(
    expect.arrayContaining([
      finding('kafka topics', 'problem', `${live} is compacted`),
      finding('kafka record size', 'problem', `${live} (500000)`),
      finding('kafka retention', 'warning', 'KEEP_DELETED_IDS_DAYS (90)'),
      finding('kafka retention', 'warning', `retention.bytes is set for ${live}`),
      finding('consumers', 'problem', `${live} (unread: 1)`),
      finding('consumers', 'warning', `no consumer reads ${others.historical}, ${others.overflow}`),
    ]),
  );
});

test('doctor reports topics that accept ordinary events but reject large AI events', async () => {
  const own = uniqueTopicPrefix();
  const { live, ...others } = topicNames(own);
  await makeTopics([live], { 'max.message.bytes': '1048588' });
  await makeTopics(Object.values(others));
  const { findings } = await doctor({ TOPIC_PREFIX: own });
  expect(findings).toContainEqual(
    finding('kafka record size', 'warning', `${live} (1048588): large AI events get a 413 response`),
  );
});

test('doctor reports offsets beyond the end of the log, offsets of a different log, and events that will expire unread', async () => {
  const own = uniqueTopicPrefix();
  const { live, historical, overflow, ...others } = topicNames(own);
  await makeTopics([live], { 'retention.ms': '1000' });
  await makeTopics([historical, overflow, ...Object.values(others)]);
  const log = openLog();
  await log.append([{ topic: live, key: 'k', value: Buffer.from('{}') }]);
  const used = (await log.endOffsets(live)).find(({ endOffset }) => endOffset > 0n)?.partition ?? 0;
  const store = async (topic: string, partition: number, next_offset: bigint, of?: string) => {
    const currentLog = (await log.endOffsets(topic))[0]?.log ?? '';
    await database.prisma.consumer_offset.create({
      data: { topic, partition, group: 'g', log: of ?? currentLog, next_offset },
    });
  };
  try {
    await store(live, used, 0n);
    await store(historical, 0, 7n);
    await store(overflow, 1, 7n, 'kafka/gone/1');
    await eventually(async () => {
      const { findings } = await doctor({ TOPIC_PREFIX: own });
      const ofLog = findings.filter(({ check }) => ['kafka retention', 'stored offsets'].includes(check));
      expect(ofLog).toEqual(
        expect.arrayContaining([
          finding('kafka retention', 'problem', `unread events in ${live}/${used}`),
          finding('kafka retention', 'warning', `${live} keep events for less than a day`),
          finding('stored offsets', 'problem', `${historical}/0`),
          finding('stored offsets', 'warning', 'another log (kafka/gone/1)'),
        ]),
      );
    });
  } finally {
    await log.close();
    await database.prisma.consumer_offset.deleteMany();
  }
});

test('doctor uses the same defaults as the services', () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  for (const [field, { default: value }] of Object.entries(
    doctorSettingsSchema.properties as Record<string, { default?: unknown }>,
  )) {
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    if (value !== undefined) expect(page).toContain(`| \`${name}\` | ${value === '' ? 'empty' : `\`${value}\``} |`);
  }
});
