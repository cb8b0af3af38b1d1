import { randomUUID } from 'node:crypto';
import { type ProcessedEvent, type TopicNames, topicNames } from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import { createKafkaLog, createPostgresLog, type EventLog, type LogRecord, readTopic } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, eventually, patienceMs, type TestDatabase, testServers } from '@millrace/testing';
import { runCli } from '../program.ts';

const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const patience = { appendTimeoutMs: patienceMs };

describe.each(['kafka', 'postgres'] as const)('dead-letter commands with the event log on %s', (kind) => {
  let log: EventLog;
  let close: () => Promise<void>;
  let prefix: string;
  let topics: TopicNames;

  beforeAll(() => {
    if (kind === 'kafka') {
      log = createKafkaLog({ brokers: testServers().kafkaBrokers, clientId: 'cli-test', logger, ...patience });
      close = () => log.close();
    } else {
      const database = createDatabase({ url: testDatabase.url, logger, poolSize: 4 });
      log = createPostgresLog({ database, logger, ...patience });
      close = () => log.close().finally(() => database.stop());
    }
  });
  afterAll(() => close());
  beforeEach(async () => {
    prefix = `t-${randomUUID()}.`;
    topics = topicNames(prefix);
    await log.ensureTopics(
      [topics.live, topics.processed, topics.deadLetter].map((topic) => ({ topic, partitions: 2 })),
    );
  });

  async function run(args: string[], interrupted?: AbortSignal) {
    const out: string[] = [];
    const err: string[] = [];
    const ended = runCli(args, {
      env: {
        DATABASE_URL: testDatabase.url,
        EVENT_LOG: kind,
        KAFKA_BROKERS: testServers().kafkaBrokers.join(','),
        TOPIC_PREFIX: prefix,
      },
      out: { write: (text) => out.push(text) },
      err: { write: (text) => err.push(text) },
      ...(interrupted === undefined ? {} : { interrupted }),
    });
    return { out, err, ended };
  }

  async function runJson(...args: string[]): Promise<unknown> {
    const { out, err, ended } = await run([...args, '--json']);
    expect({ exitCode: await ended, err: err.join('') }).toEqual({
      exitCode: 0,
      err: expect.not.stringContaining('error'),
    });
    return JSON.parse(out.join(''));
  }

  async function appendLetter(offset: number, reason: string, headers: Record<string, string> = {}): Promise<string> {
    await log.append([
      {
        topic: topics.deadLetter,
        key: `phc_a:user-${offset}`,
        value: Buffer.from(`{"number":${offset}}`),
        headers: {
          kept: 'yes',
          dlq_reason: reason,
          dlq_step: 'process_batch',
          dlq_timestamp: '2026-11-20T10:00:00.000Z',
          dlq_topic: topics.live,
          dlq_partition: '1',
          dlq_offset: String(offset),
          ...headers,
        },
      },
    ]);
    return `${topics.live}/1/${offset}`;
  }

  async function recordsOf(topic: string): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    const { signal } = new AbortController();
    await readTopic(log, {
      topic,
      from: 'start',
      until: 'end',
      signal,
      onRecord: (record) => void records.push(record),
    });
    return records;
  }

  test('lists, shows, replays and discards dead letters', async () => {
    const first = await appendLetter(1, 'invalid_uuid');
    const second = await appendLetter(2, 'processing_error');
    // Append the same dead letter again, as a consumer does that crashed before it stored its offset.
    await appendLetter(2, 'processing_error');
    expect(await runJson('dead-letters', 'list')).toEqual(
      expect.arrayContaining([
        {
          name: first,
          reason: 'invalid_uuid',
          step: 'process_batch',
          at: '2026-11-20T10:00:00.000Z',
          bytes: 12,
          decision: null,
        },
        expect.objectContaining({ name: second }),
      ]),
    );
    expect(await runJson('dead-letters', 'list')).toHaveLength(2);
    expect(await runJson('dead-letters', 'show', first)).toMatchObject({ key: 'phc_a:user-1', value: '{"number":1}' });

    expect(await runJson('dead-letters', 'replay', second)).toEqual({ replayed: 1, skipped: 0 });
    const [replayed] = await recordsOf(topics.live);
    expect(replayed).toMatchObject({ key: 'phc_a:user-2', headers: { kept: 'yes' } });
    expect(String(replayed?.value)).toBe('{"number":2}');
    expect(Object.keys(replayed?.headers ?? {})).toEqual(['kept']);

    expect(await runJson('dead-letters', 'list')).toMatchObject([{ name: first }]);
    expect(await runJson('dead-letters', 'discard', '--reason', 'invalid_uuid')).toEqual({ discarded: 1 });
    expect(await runJson('dead-letters', 'list')).toEqual([]);
    const all = (await runJson('dead-letters', 'list', '--all')) as { name: string; decision: string }[];
    expect(all.map(({ name, decision }) => [name, decision]).sort()).toEqual([
      [first, 'discarded'],
      [second, 'replayed'],
    ]);
    // A dead letter that is selected by name is replayed even if it was already replayed or discarded.
    expect(await runJson('dead-letters', 'replay', first)).toEqual({ replayed: 1, skipped: 0 });
    expect(await recordsOf(topics.live)).toHaveLength(2);
  });

  test.each([
    ['--reason', 'processing_error', 1],
    ['--reason', 'nothing_like_it', 0],
    ['--project-api-key', 'phc_a', 2],
    ['--project-api-key', 'phc_', 0],
    ['--since', '2026-11-20T10:00:00Z', 2],
    ['--since', '2026-11-20T10:00:01Z', 0],
    ['--until', '2026-11-20T09:59:59Z', 0],
  ])('`%s %s` lists %i of two dead letters', async (option, value, count) => {
    await appendLetter(1, 'invalid_uuid');
    await appendLetter(2, 'processing_error');
    expect(await runJson('dead-letters', 'list', option, value)).toHaveLength(count);
  });

  test('`replay` skips a dead letter that was stored without its value', async () => {
    await appendLetter(3, 'processing_error', { dlq_value_omitted: 'true' });
    const { out, err, ended } = await run(['dead-letters', 'replay', '--all', '--json']);
    expect(await ended).toBe(0);
    expect(JSON.parse(out.join(''))).toEqual({ replayed: 0, skipped: 1 });
    expect(err.join('')).toContain('too large');
    expect(await recordsOf(topics.live)).toEqual([]);
  });

  test.each([
    [['dead-letters', 'replay'], 2, 'Pass the names of dead letters'],
    [['dead-letters', 'discard'], 2, 'Pass the names of dead letters'],
    [['dead-letters', 'replay', 'events.live/1/77'], 1, 'Dead letter events.live/1/77 not found.'],
    [['dead-letters', 'show', 'x'], 1, 'Dead letter x not found.'],
    [['dead-letters', 'list', '--since', 'yesterday'], 2, '--since'],
  ] as const)('the dead-letter commands reject %j', async (args, exitCode, message) => {
    await appendLetter(1, 'invalid_uuid');
    const { err, ended } = await run([...args]);
    expect(await ended).toBe(exitCode);
    expect(err.join('')).toContain(message);
    expect(await recordsOf(topics.live)).toEqual([]);
  });

  test('`tail` prints new events that match its filter until it is interrupted', async () => {
    const processed = (project_id: number, event: string): Partial<ProcessedEvent> => ({
      version: 1,
      uuid: randomUUID(),
      project_id,
      event,
      distinct_id: 'u\u001b[2J',
      timestamp: '2026-11-21T10:00:00.000Z',
      person_id: randomUUID(),
      properties: { plan: 'pro' },
    });
    const publish = (...events: Partial<ProcessedEvent>[]) =>
      log.append(
        events.map((event) => ({ topic: topics.processed, key: 'k', value: Buffer.from(JSON.stringify(event)) })),
      );
    await publish(processed(7, 'before'));
    const interruption = new AbortController();
    const { out, ended } = await run(['tail', '--project', '7', '--properties'], interruption.signal);
    let sent = 0;
    await eventually(
      async () => {
        // It is not known when `tail` has found the end of the topic, so publish events until `tail` prints one.
        sent += 1;
        await publish(processed(8, 'elsewhere'), processed(7, `seen ${sent}`));
        return out.length > 0;
      },
      { what: 'A line' },
    );
    interruption.abort();
    expect(await ended).toBe(0);
    const text = out.join('');
    expect(text).toMatch(
      /^2026-11-21T10:00:00\.000Z {2}7 {2}seen \d+ {2}u\uFFFD\[2J {2}[0-9a-f-]{36} {2}\{"plan":"pro"\}\n/,
    );
    expect(text).not.toContain('elsewhere');
    expect(text).not.toContain('before');
  });
});

test('`tail` reports an unreachable log in one line', async () => {
  const err: string[] = [];
  const exitCode = await runCli(['tail'], {
    env: { DATABASE_URL: testDatabase.url, EVENT_LOG: 'kafka', KAFKA_BROKERS: '127.0.0.1:1' },
    out: { write: () => {} },
    err: { write: (text) => err.push(text) },
  });
  expect(exitCode).toBe(1);
  expect(err.join('')).toMatch(/^error: [^\n]+\n$/);
  expect(err.join('')).not.toContain('database');
});

test('reports an incomplete list of dead letters, with the position up to which each partition was read', async () => {
  const database = createDatabase({ url: testDatabase.url, logger, poolSize: 2 });
  const log = createPostgresLog({ database, logger, ...patience });
  const prefix = `t-${randomUUID()}.`;
  const topic = topicNames(prefix).deadLetter;
  try {
    await log.ensureTopics([{ topic, partitions: 1 }]);
    await log.append([1, 2].map((n) => ({ topic, key: 'k', value: Buffer.from(String(n)), headers: {} })));
    await database.sql.query('DELETE FROM event_log_record WHERE topic = $1 AND "offset" = 1', [topic]);
    const err: string[] = [];
    const exitCode = await runCli(['dead-letters', 'list', '--json'], {
      env: { DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres', TOPIC_PREFIX: prefix },
      out: { write: () => true },
      err: { write: (text) => err.push(text) },
    });
    expect([exitCode, err.join('')]).toEqual([
      0,
      expect.stringContaining('warning: partition 0 was only read up to 1 of 2'),
    ]);
  } finally {
    await log.close();
    await database.stop();
  }
});
