import { isAppError } from '@millrace/runtime';
import fc from 'fast-check';
import { OverBudget, runQuery } from '../src/index.ts';
import { createCaseProjects, type InsightCase } from './case-world.ts';
import { changedQuery, seed } from './changed-queries.ts';
import { ample, engines, type TestStore } from './test-store.ts';

describe.each(engines)('changed queries on $name', (engine) => {
  let store: TestStore;
  let projectOf: (one: InsightCase) => Promise<number>;
  beforeAll(async () => {
    store = await engine.open();
    projectOf = createCaseProjects(store.database);
  });
  afterAll(() => store.stop());

  test('returns a result for each randomly changed query, or rejects it as invalid', async () => {
    await fc.assert(
      fc.asyncProperty(changedQuery, async ({ one, query }) => {
        const request = { projectId: await projectOf(one), query, now: Date.parse(one.now) };
        await runQuery({ sql: store.database.sql, events: store.events }, request, ample()).catch((error) => {
          if (!isAppError(error, 'invalid') && !(error instanceof OverBudget)) throw error;
        });
      }),
      { numRuns: 1000, seed },
    );
  });
});
