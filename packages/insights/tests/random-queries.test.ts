import { compareRandomQueries } from './random-queries.ts';
import { engines, type TestStore } from './test-store.ts';

describe.each(engines)('on $name', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await engine.open();
  });
  afterAll(() => store.stop());

  test('random queries return the same as the reference implementation', async () => {
    await compareRandomQueries(() => store, { histories: 8, queries: 25 });
  });
});
