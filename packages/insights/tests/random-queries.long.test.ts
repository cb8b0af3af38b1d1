import { compareRandomQueries } from './random-queries.ts';
import { engines, type TestStore } from './test-store.ts';

describe.each(engines)('random queries on $name', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await engine.open();
  });
  afterAll(() => store.stop());

  test('returns the same results as the reference implementation for 10,000 random queries', async () => {
    await compareRandomQueries(() => store, { histories: 200, queries: 50 });
  });
});
