import { askRandomQuestions } from './random-questions.ts';
import { engines, openTestStore, type TestStore } from './test-store.ts';

describe.each(engines)('on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
  });
  afterAll(() => store.stop());

  test('random questions are answered as by counting on fingers', async () => {
    await askRandomQuestions(() => store, { histories: 8, questions: 25 });
  });
});
