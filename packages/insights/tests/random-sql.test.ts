import { testSeed } from '@millrace/testing';
import { differentSql } from './random-sql-runs.ts';
import { engines, type TestStore } from './test-store.ts';

const seed = testSeed(1);

describe.each(engines)('random SQL queries on $name', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await engine.open();
  });
  afterAll(() => store.stop());

  test(`200 random SQL queries return a result or an error message for the user (MILLRACE_SEED=${seed})`, async () => {
    expect(await differentSql({ store, engines: [store.events], seed, count: 200 })).toEqual([]);
  });
});
