import { ConfigError } from '@millrace/runtime';
import { openEventStore } from './open.ts';

const reader = { read: () => Promise.reject(new Error('nobody reads here')) };

test('ClickHouse without an address is refused, with the name of the setting', () => {
  expect(() => openEventStore({ eventStore: 'clickhouse' }, { reader, maxMs: 30_000 })).toThrow(
    new ConfigError(['CLICKHOUSE_URL is required with EVENT_STORE=clickhouse']),
  );
});

test('PostgreSQL needs nothing, and keeps its own time', async () => {
  const store = openEventStore({ eventStore: 'postgres' }, { reader, maxMs: 30_000 });
  expect([store.clickhouse, store.maxMs]).toEqual([null, 30_000]);
  await store.stop();
});
