import { ConfigError } from '@millrace/runtime';
import { openEventStore } from './open.ts';

const reader = { read: () => Promise.reject(new Error('no query expected')) };

test('reports the missing URL setting when ClickHouse is selected', () => {
  expect(() => openEventStore({ eventStore: 'clickhouse' }, { reader, maxMs: 30_000 })).toThrow(
    new ConfigError(['CLICKHOUSE_URL is required with EVENT_STORE=clickhouse']),
  );
});

test('opens PostgreSQL with the given time limit when no other settings are set', async () => {
  const store = openEventStore({ eventStore: 'postgres' }, { reader, maxMs: 30_000 });
  expect([store.clickhouse, store.maxMs]).toEqual([null, 30_000]);
  await store.stop();
});
