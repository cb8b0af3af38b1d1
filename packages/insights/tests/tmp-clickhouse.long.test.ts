import { jest } from '@jest/globals';
import { clickHouseOrSkip } from '@millrace/testing';
import { engines, onClickHouse } from './test-store.ts';

const modules = await clickHouseOrSkip();
if (modules === null) test.skip('questions on ClickHouse', () => {});
else {
  engines.splice(0, engines.length, onClickHouse(modules));
  jest.setTimeout(3_000_000);
  await import('./random-questions.long.test.ts');
}
