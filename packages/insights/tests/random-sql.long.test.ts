import { createReadPool } from '@millrace/db';
import { installClickHouseOrNull, testSeed } from '@millrace/testing';
import { createEventStore, createPostgresEngine, type EventStore } from '../src/index.ts';
import { differentSql } from './random-sql-runs.ts';
import { logger, onClickHouse, type TestStore } from './test-store.ts';

const modules = await installClickHouseOrNull();
// The seeds are fixed, so that an unrelated change does not fail because a new seed reveals a difference. Another seed
// runs other queries.
const seed = testSeed(1);
const perTest = 100;
const parts = Array.from({ length: 10 }, (_, at) => seed + at * perTest);

(modules === null ? describe.skip : describe)('1,000 random SQL queries', () => {
  let store: TestStore;
  let engines: EventStore[];
  let stop: () => Promise<void>;
  beforeAll(async () => {
    store = await onClickHouse(modules ?? '').open();
    const reader = createReadPool({ url: store.url, logger, poolSize: 2 });
    engines = [createEventStore(createPostgresEngine(reader)), store.events];
    stop = async () => {
      await reader.stop();
      await store.stop();
    };
  });
  afterAll(() => stop());

  test.each(parts)(
    'both engines return the same results for random SQL queries (MILLRACE_SEED=%i)',
    async (first) => {
      expect(await differentSql({ store, engines, seed: first, count: perTest })).toEqual([]);
    },
    900_000,
  );
});
