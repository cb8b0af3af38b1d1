import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { patienceMs, testServers, uniqueTopicPrefix } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { installClickHouseOrNull } from '../testing/install-tools.ts';

/** Runs `deploy/clickhouse/events.sql` on a real ClickHouse in a child process, with a real Kafka broker. */
const { kafkaBrokers } = testServers();
const modules = await installClickHouseOrNull();
const sqlFile = new URL('../../deploy/clickhouse/events.sql', import.meta.url);

/** Creates the tables, and prints their content once it has the expected size. */
const readTopic = `
const [modules, path, sql, events, unread] = process.argv.slice(1);
const { Session } = await import(modules + '/chdb/index.mjs');
const session = new Session(path);
for (const statement of sql.split(';')) if (statement.trim() !== '') session.query(statement);
const rowsOf = (query) => session.query(query + ' FORMAT JSONEachRow').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
let rows;
for (const end = Date.now() + ${patienceMs}; Date.now() < end; await new Promise((wake) => setTimeout(wake, 200))) {
  rows = {
    events: rowsOf('SELECT * FROM millrace.events FINAL ORDER BY uuid'),
    unread: rowsOf('SELECT offset, error FROM millrace.events_unread ORDER BY offset'),
  };
  if (rows.events.length >= events && rows.unread.length >= unread) break;
}
process.stdout.write(JSON.stringify(rows), () => process.kill(process.pid, 'SIGKILL'));
`;

const uuid = (n: number) => `0193f0c5-7a4e-7000-8000-00000000000${n}`;
const record = (n: number, properties: string, fields: Record<string, unknown> = {}) => {
  const head = JSON.stringify({
    version: 1,
    uuid: uuid(n),
    project_id: 1,
    event: 'order placed',
    distinct_id: 'd',
    timestamp: '2026-11-21T09:59:58.123Z',
    captured_at: '2026-11-21T10:00:00.000Z',
    elements_chain: '',
    person_id: '0193f0c5-7a4e-5000-8000-000000000001',
    person_created_at: '2026-11-20T00:00:00.000Z',
    person_mode: 'full',
    historical_migration: false,
    ...fields,
  });
  return `${head.slice(0, -1)},"properties":${properties},"person_properties":{"plan": "pro"}}`;
};

(modules === null || kafkaBrokers === null ? test.skip : test)(
  'ClickHouse stores valid records even if the topic also contains invalid ones',
  async () => {
    const topic = `${uniqueTopicPrefix()}events.processed`;
    const kafka = new Kafka({ brokers: String(kafkaBrokers).split(','), logLevel: logLevel.NOTHING });
    const [admin, producer] = [kafka.admin(), kafka.producer()];
    const path = await mkdtemp(join(tmpdir(), 'millrace-clickhouse-'));
    const large = `1${'0'.repeat(400)}`;
    const records = [
      record(1, '{"total": 42.50, "nested": {"list": [1, null]}}'),
      record(2, '{"wide": 18446744073709551616}', { person_created_at: null, added_later: { x: 1 } }),
      record(3, '{"wider": 10000000000000000000000}'),
      record(4, `{"widest": ${large}, "short": 1e400}`),
      '{}',
      'no JSON',
      record(5, '{}', { uuid: 'none' }),
      record(6, '{}', { timestamp: 'yesterday' }),
      record(7, '{"last": "ü"}', { person_mode: 'propertyless', historical_migration: true }),
      record(1, '{"total": 42.50, "nested": {"list": [1, null]}}'),
    ];
    try {
      await Promise.all([admin.connect(), producer.connect()]);
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
      await producer.send({ topic, messages: records.map((value) => ({ value })) });
      const sql = (await readFile(sqlFile, 'utf8'))
        .replaceAll(/--.*$/gm, '')
        .replace("'kafka:9092'", `'${kafkaBrokers}'`)
        .replace("'events.processed'", `'${topic}'`)
        .replace("'millrace.clickhouse'", `'${topic}'`);
      const words = ['--input-type=module', '-e', readTopic, `${modules}`, path, sql, '5', '4'];
      // End the process with a signal, because closing ClickHouse would wait for its Kafka readers.
      const result = await promisify(execFile)(process.execPath, words, {
        timeout: 170_000,
        maxBuffer: 64 << 20,
      }).catch((error: Error & { stdout?: string }) => {
        if (error.stdout) return { stdout: error.stdout };
        throw error;
      });
      const { events, unread } = JSON.parse(result.stdout);
      expect(events.map((event: { uuid: string; properties: string }) => [event.uuid, event.properties])).toEqual([
        [uuid(1), '{"total": 42.50, "nested": {"list": [1, null]}}'],
        [uuid(2), '{"wide": 18446744073709551616}'],
        [uuid(3), '{"wider": 10000000000000000000000}'],
        [uuid(4), `{"widest": ${large}, "short": 1e400}`],
        [uuid(7), '{"last": "ü"}'],
      ]);
      expect(events[1]).toMatchObject({
        project_id: 1,
        timestamp: '2026-11-21 09:59:58.123',
        person_created_at: null,
        person_properties: '{"plan": "pro"}',
        captured_at: '2026-11-21 10:00:00.000',
      });
      expect(events[4]).toMatchObject({
        event: 'order placed',
        person_created_at: '2026-11-20 00:00:00.000',
        person_mode: 'propertyless',
        historical_migration: true,
      });
      expect(unread.map(({ offset }: { offset: number | string }) => Number(offset))).toEqual([4, 5, 6, 7]);
      expect(unread[0].error).toBe('The record has no uuid, person_id or project_id.');
    } finally {
      await Promise.all([admin.disconnect(), producer.disconnect()]);
      await rm(path, { recursive: true, force: true });
    }
  },
);
