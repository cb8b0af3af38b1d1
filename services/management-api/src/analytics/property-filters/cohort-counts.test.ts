/** Compares two ways of counting the members of cohorts, with the filters and persons of filter-001 to filter-165. */

import { createDatabase, createReadPool, type Database, type ReadPool } from '@millrace/db';
import { countCohortMembersByValues, createCohortAudience, matchPersons } from '@millrace/flags/cohorts';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import { filterCases, missing, refusedFilters, stored, zone } from '../../testing/filter-cases.ts';
import { storePerson } from '../../testing/stored-data.ts';

let testDatabase: TestDatabase;
let database: Database;
let reader: ReadPool;
let projectId: number;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const logger = createLogger('test', 'error');
  database = createDatabase({ url: testDatabase.url, logger, poolSize: 3 });
  reader = createReadPool({ url: testDatabase.url, logger, poolSize: 1 });
  ({ environmentId: projectId } = await createTestTenant(database));
  await database.sql.query('UPDATE environment SET timezone = $2 WHERE id = $1', [projectId, zone]);
  const values = [...Object.entries(stored), [missing, undefined] as const];
  for (const [at, [name, value]] of values.entries()) {
    for (const copy of Array.from({ length: 1 + (at % 3) }, (_, copy) => copy)) {
      const properties = { ...(value !== undefined && { p: value }), $browser: stored.chrome, copy };
      await storePerson(database.sql, projectId, { distinctIds: [`${name} ${copy}`], properties });
    }
  }
});
afterAll(async () => {
  await reader.stop();
  await database.stop();
  await testDatabase.drop();
});

/** Creates a cohort with these filters. Returns null if PostgreSQL cannot store them. */
async function cohortWith(...values: unknown[]): Promise<number | null> {
  const rows = await database.sql
    .query<{ id: number }>('INSERT INTO cohort (project_id, name, filters) VALUES ($1, $2, $3) RETURNING id', [
      projectId,
      'c',
      { properties: { type: 'AND', values } },
    ])
    .catch(() => []);
  return rows[0]?.id ?? null;
}

const { signal } = new AbortController();

async function countBothWays(cohortIds: number[]) {
  const oneByOne: (number | null)[] = cohortIds.map(() => 0);
  const audience = await createCohortAudience(database.sql, projectId, cohortIds);
  for await (const page of matchPersons(database.sql, projectId, { audience })) {
    for (const { matches } of page) {
      for (const [at, isMember] of matches.entries()) {
        const count = oneByOne[at] ?? null;
        oneByOne[at] = count === null || isMember === null ? null : count + Number(isMember);
      }
    }
  }
  const request = { projectId, cohortIds, signal, maxMs: 60_000 };
  return { oneByOne, together: await countCohortMembersByValues({ sql: database.sql, reader }, request) };
}

test('counts the same cohort members for every filter, whether cohorts are counted together or one by one', async () => {
  const ids: number[] = [];
  for (const { operator, value } of [...filterCases, ...refusedFilters]) {
    const filter = { type: 'person', operator, value };
    const single = await cohortWith({ ...filter, key: 'p' });
    if (single === null) continue;
    const initial = await cohortWith({ ...filter, key: '$initial_browser' });
    const combined = await cohortWith(
      { type: 'cohort', key: 'id', value: single, negation: true },
      { type: 'person', key: 'copy', operator: 'lt', value: 2 },
    );
    ids.push(...[single, initial, combined].filter((id) => id !== null));
  }
  const { oneByOne, together } = await countBothWays(ids);
  expect(together).toEqual(oneByOne);
  expect(new Set(together).size).toBeGreaterThan(20);
});

test('counts cohorts together only if they depend on no distinct IDs and on at most 31 values', async () => {
  const on = (key: string) => ({ type: 'person', key, operator: 'is_set' });
  const ofId = await cohortWith(on('distinct_id'));
  const most = await cohortWith(...Array.from({ length: 31 }, (_, at) => on(`p${at}`)));
  const tooMany = await cohortWith(...Array.from({ length: 32 }, (_, at) => on(`p${at}`)));
  const counts = [];
  for (const id of [ofId, most, tooMany]) counts.push((await countBothWays([id ?? 0])).together);
  expect(counts).toEqual([null, [0], null]);
});
