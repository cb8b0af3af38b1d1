import { clickHouseOrSkip } from '@millrace/testing';
import { askRandomQuestions } from './random-questions.ts';
import { onClickHouse, type TestStore } from './test-store.ts';

const modules = await clickHouseOrSkip();
test('many', async () => {
  if (modules === null) throw new Error('none');
  const store: TestStore = await onClickHouse(modules).open();
  await askRandomQuestions(() => store, { histories: 200, questions: 50 });
  await store.stop();
}, 3_000_000);
