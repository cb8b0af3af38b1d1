/** Runs the query tests on ClickHouse, because all engines must return the same results. */

import { installClickHouseOrNull } from '@millrace/testing';
import { engines, onClickHouse } from './test-store.ts';

const modules = await installClickHouseOrNull();
if (modules === null) test.skip('queries on ClickHouse', () => {});
else {
  const usual = engines.splice(0, engines.length, onClickHouse(modules));
  await import('./insight-cases.test.ts');
  await import('./filters.test.ts');
  await import('./traps.test.ts');
  await import('./lists.test.ts');
  await import('./sql-cases.test.ts');
  await import('./sql-expressions.test.ts');
  await import('./sql-hostile.test.ts');
  await import('./sql-public-queries.test.ts');
  await import('./sql-guide.test.ts');
  await import('./sql-budgets.test.ts');
  await import('./random-queries.test.ts');
  await import('./changed-queries.test.ts');
  await import('./random-web.test.ts');
  // Restore the default engines, because other test files run in the same process.
  engines.splice(0, engines.length, ...usual);
}
