import { isDeepStrictEqual } from 'node:util';
import { createReadPool } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { clickHouseOrSkip } from '@millrace/testing';
import fc from 'fast-check';
import { createEventStore, type EventStore, OverBudget, postgresEngine, runQuery } from '../src/index.ts';
import { createCaseProjects } from './case-world.ts';
import { changedQuery, seed } from './changed-queries.ts';
import { ample, logger, onClickHouse } from './test-store.ts';

const modules = await clickHouseOrSkip();

(modules === null ? test.skip : test)('both engines answer changed queries alike, and refuse the same', async () => {
  const store = await onClickHouse(modules ?? '').open();
  const reader = createReadPool({ url: store.url, logger, poolSize: 2 });
  const onPostgres = createEventStore(postgresEngine(reader));
  const projectOf = createCaseProjects(store.database);
  const asking = fc.assert(
    fc.asyncProperty(changedQuery, async ({ one, query }) => {
      const asked = { projectId: await projectOf(one), query, now: Date.parse(one.now) };
      const ask = (events: EventStore) =>
        runQuery({ sql: store.database.sql, events }, asked, ample()).then(rounded, (error) => {
          if (!isAppError(error, 'invalid') && !(error instanceof OverBudget)) throw error;
          return error.message;
        });
      const [fromPostgres, fromClickhouse] = [await ask(onPostgres), await ask(store.events)];
      if (!isDeepStrictEqual(fromPostgres, fromClickhouse))
        throw new Error(JSON.stringify({ PostgreSQL: fromPostgres, ClickHouse: fromClickhouse }));
    }),
    { numRuns: 1200, seed },
  );
  await asking.finally(async () => {
    await reader.stop();
    await store.stop();
  });
});

/** Rounds numbers, because the last digits of sums and averages depend on the order of their parts. */
function rounded(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(10)) : value)),
  );
}
