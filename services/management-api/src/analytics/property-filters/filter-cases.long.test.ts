/** Tests that the filter cases have the same results on ClickHouse as on PostgreSQL. */

import { installClickHouseOrNull } from '@millrace/testing';
import { engines, onClickHouse } from '../../testing/engines.ts';

const modules = await installClickHouseOrNull();
if (modules === null)
  test.skip('finds the same events and persons with every filter on ClickHouse as on PostgreSQL', () => {});
else {
  const usual = engines.splice(0, engines.length, onClickHouse(modules));
  await import('./filter-cases.test.ts');
  // Restore the default engines for test files that run in the same process.
  engines.splice(0, engines.length, ...usual);
}
