import { isDeepStrictEqual } from 'node:util';
import { createReadPool, type ReadPool } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { installClickHouseOrNull } from '@millrace/testing';
import fc from 'fast-check';
import { createEventStore, createPostgresEngine, type EventStore, OverBudget, runQuery } from '../src/index.ts';
import { createCaseProjects } from './case-world.ts';
import { changedQuery, seed } from './changed-queries.ts';
import { storeHistory } from './random-history.ts';
import { nowOf } from './random-parts.ts';
import { crowdedHistory, rowsQuery, translateRows } from './random-rows.ts';
import { ample, logger, onClickHouse, type TestStore } from './test-store.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('both engines', () => {
  let store: TestStore;
  let onPostgres: EventStore;
  let reader: ReadPool;
  beforeAll(async () => {
    store = await onClickHouse(modules ?? '').open();
    reader = createReadPool({ url: store.url, logger, poolSize: 2 });
    onPostgres = createEventStore(createPostgresEngine(reader));
  });
  afterAll(async () => {
    await reader.stop();
    await store.stop();
  });

  /** Runs a query on both engines. @throws Error if their results or error messages differ */
  async function compare(request: { projectId: number; query: unknown; now: number }): Promise<void> {
    const run = (events: EventStore) =>
      runQuery({ sql: store.database.sql, events }, request, ample()).then(rounded, (error) => {
        if (!isAppError(error, 'invalid') && !(error instanceof OverBudget)) throw error;
        return error.message;
      });
    const [fromPostgres, fromClickhouse] = [await run(onPostgres), await run(store.events)];
    if (!isDeepStrictEqual(fromPostgres, fromClickhouse))
      throw new Error(JSON.stringify({ query: request.query, PostgreSQL: fromPostgres, ClickHouse: fromClickhouse }));
  }

  test('both engines return the same results for randomly changed queries, and reject the same queries', async () => {
    const projectOf = createCaseProjects(store.database);
    await fc.assert(
      fc.asyncProperty(changedQuery, async ({ one, query }) =>
        compare({ projectId: await projectOf(one), query, now: Date.parse(one.now) }),
      ),
      { numRuns: 1200, seed },
    );
  });

  test('both engines return the same funnels and lists after merges, splits, deletions and late events', async () => {
    await fc.assert(
      fc.asyncProperty(
        crowdedHistory,
        fc.array(rowsQuery, { minLength: 40, maxLength: 40 }),
        async (given, request) => {
          const stored = await storeHistory(store, given);
          for (const one of request)
            await compare({ projectId: stored.projectId, query: translateRows(one, stored), now: nowOf(stored) });
        },
      ),
      { numRuns: 8, seed, endOnFailure: true },
    );
  });
});

/** Rounds numbers, because the last digits of sums and averages depend on the order in which numbers are added. */
function rounded(result: unknown): unknown {
  return JSON.parse(
    JSON.stringify(result, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(10)) : value)),
  );
}
