/** All that engines have to answer alike, on ClickHouse: the same files of tests, on a store of another kind. */

import { installNpmPackages, orSkip } from '@millrace/testing';
import { engines, onClickHouse } from './test-store.ts';

// 550 MB: nobody gets it with the packages of the repository.
const modules = await orSkip('ClickHouse', () => installNpmPackages('chdb', ['chdb@3.4.0']));
if (modules === null) test.skip('questions on ClickHouse', () => {});
else {
  engines.splice(0, engines.length, onClickHouse(modules));
  await import('./insight-cases.test.ts');
  await import('./filters.test.ts');
  await import('./traps.test.ts');
  await import('./lists.test.ts');
  await import('./random-questions.test.ts');
}
