// Cases public-sql-001 to public-sql-136: queries on events, persons, groups and cohorts that PostHog users published.
// Most are from PostHog's agent skills. Each query either runs, or fails with an error that names the unsupported part.

import { readFileSync } from 'node:fs';
import { isAppError } from '@millrace/runtime';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { runSql } from '../src/sql/run.ts';
import { createSqlWorld, type SqlWorld } from './sql-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const { properties, queries } = JSON.parse(
  readFileSync(new URL('./sql-public-queries.json', import.meta.url), 'utf8'),
) as {
  properties: Record<string, string[]>;
  queries: { no: string; query: string; refused?: string }[];
};

test('runs at least 85 % of the published queries', () => {
  expect(queries.filter(({ refused }) => refused === undefined).length / queries.length).toBeGreaterThanOrEqual(0.85);
});

describe.each(engines)('published queries on $name', (engine) => {
  let store: TestStore;
  let world: SqlWorld;
  let parser: SqlParser;
  beforeAll(async () => {
    store = await engine.open();
    world = await createSqlWorld(store.database);
    const definitions = Object.entries(properties).flatMap(([type, names]) => names.map((name) => [name, type]));
    await store.database.sql.query(
      `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
       SELECT $1, 1, -1, name, kind, now() FROM unnest($2::text[], $3::text[]) AS d (name, kind) ON CONFLICT DO NOTHING`,
      [world.projectId, definitions.map(([name]) => name), definitions.map(([, type]) => type)],
    );
    for (const name of ['Power users', 'Power user', 'Case-sensitive cohort name'])
      await store.database.sql.query('INSERT INTO cohort (project_id, name, is_static) VALUES ($1, $2, true)', [
        world.projectId,
        name,
      ]);
    parser = createParser();
    await parser.parse('SELECT 1');
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  test.each(queries.map((one) => [one.no, one] as const))('%s', async (_, { query, refused }) => {
    const { projectId, now } = world;
    const settings = await readProjectSettings(store.database.sql, projectId);
    const text = query.replace('COHORT 123', () => `COHORT ${world.textOf('__COHORT_A__')}`);
    const result = await runSql(
      { sql: store.database.sql, events: store.events, parser },
      {
        ...{ projectId, settings, now, text },
        values: { days: 7, event: 'order' },
        variables: { event_names: 'order' },
      },
      ample(),
    ).catch((error: unknown) => {
      if (isAppError(error, 'invalid')) return error.message;
      throw error;
    });
    if (refused === undefined) expect(result).toMatchObject({ results: expect.any(Array) });
    else expect(result).toEqual(expect.stringContaining(refused));
  });
});
