import type { Sql } from '@millrace/db';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { createProjectResolver, type ProjectResolver } from './projects.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

/** No change is ever reported, so cached data is used until it expires. */
const changes = { subscribe: () => {}, isSubscribed: () => true };
const now = new Date().toISOString();
const keys = (...tokens: string[]) => tokens.map((token) => ({ token, now }));
async function findByKey(resolver: ProjectResolver, token: string) {
  return (await resolver.resolve(keys(token)))({ token, now });
}

function countingSql(): Sql & { statements: number } {
  const counting = {
    statements: 0,
    query: ((text, values) => {
      counting.statements += 1;
      return fixture.database.sql.query(text, values);
    }) as Sql['query'],
  };
  return counting;
}

test('finds all projects of a batch with one statement, and caches them', async () => {
  const sql = countingSql();
  const resolver = createProjectResolver({ sql, changes });
  const [a, b] = [await fixture.createProject(), await fixture.createProject()];
  const projectOf = await resolver.resolve(keys(a.token, b.token, a.token));
  expect(projectOf({ token: a.token, now })).toEqual({
    id: a.id,
    token: a.token,
    anonymizeIps: false,
    personProcessingOptOut: false,
    mayMigrate: false,
    isCookieless: false,
    timezone: 'UTC',
    eventRetentionDays: null,
  });
  expect(projectOf({ token: b.token, now })?.id).toBe(b.id);
  await resolver.resolve(keys(b.token, a.token));
  await resolver.resolve([{ token: a.token, environment_id: a.id, now }]);
  expect(sql.statements).toBe(1);
});

test('looks up an unknown token each time, so that a project created a moment later is found immediately', async () => {
  const resolver = createProjectResolver({ sql: fixture.database.sql, changes });
  const project = await fixture.createProject();
  expect(await findByKey(resolver, 'phc_soon')).toBeUndefined();
  await fixture.database.sql.query('UPDATE environment SET api_token = $1 WHERE id = $2', ['phc_soon', project.id]);
  expect((await findByKey(resolver, 'phc_soon'))?.id).toBe(project.id);
});

test('finds no project for a token that PostgreSQL cannot store', async () => {
  const sql = countingSql();
  const resolver = createProjectResolver({ sql, changes });
  for (const token of ['a\u0000b', '', 'x'.repeat(5000), '\ud800']) {
    expect(await findByKey(resolver, token)).toBeUndefined();
  }
  expect(sql.statements).toBe(0);
});

test('applies a changed project setting after the cached project has expired', async () => {
  const project = await fixture.createProject();
  const resolver = createProjectResolver({ sql: fixture.database.sql, changes, ttlMs: 1 });
  expect((await findByKey(resolver, project.token))?.anonymizeIps).toBe(false);
  await fixture.database.sql.query('UPDATE environment SET anonymize_ips = true WHERE id = $1', [project.id]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await findByKey(resolver, project.token))?.anonymizeIps).toBe(true);
});

test('returns those projects of a batch that are not yet marked as having events', async () => {
  const resolver = createProjectResolver({ sql: fixture.database.sql, changes });
  const [a, b] = [await fixture.createProject(), await fixture.createProject()];
  await fixture.database.sql.query('UPDATE environment SET ingested_event = true WHERE id = $1', [a.id]);
  await resolver.resolve(keys(a.token, b.token));
  expect(resolver.withoutEvents([a.id, b.id, b.id])).toEqual([b.id]);
  resolver.markAsHavingEvents([b.id]);
  expect(resolver.withoutEvents([a.id, b.id])).toEqual([]);
});
