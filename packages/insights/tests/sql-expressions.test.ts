// Cases sql-251 to sql-259 and sql-301 to sql-399: SQL expressions within other queries, with the expected results.

import { isAppError } from '@millrace/runtime';
import { runQuery } from '../src/index.ts';
import { readProjectSettings } from '../src/records-store.ts';
import type { SqlParser } from '../src/sql/parse.ts';
import * as ofSql from './numbered-cases/of-sql.ts';
import { openSqlWorld, type SqlWorld } from './sql-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const cases = Object.values(ofSql).flat();

describe.each(engines)('SQL expressions in insights on $name', (engine) => {
  let store: TestStore;
  let world: SqlWorld;
  let parser: SqlParser;
  beforeAll(async () => {
    store = await engine.open();
    ({ world, parser } = await openSqlWorld(store));
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  test.each(cases.map((one) => [`${one.no}: ${one.title}`, one] as const))('%s', async (_, one) => {
    const { projectId, now } = world;
    const settings = await readProjectSettings(store.database.sql, projectId);
    const asked = {
      ...{ projectId, query: one.query, now },
      settings: { ...settings, ...(one.testAccountFilters && { testAccountFilters: one.testAccountFilters }) },
    };
    const deps = { sql: store.database.sql, events: store.events, parser };
    const result = await runQuery(deps, asked, ample()).catch((error: unknown) => {
      if (isAppError(error, 'invalid')) return { code: error.code, detail: error.message };
      throw error;
    });
    const { detail, ...others } = one.expect;
    expect(result).toMatchObject(others);
    if (detail !== undefined) expect(result).toHaveProperty('detail', expect.stringContaining(String(detail)));
  });
});
