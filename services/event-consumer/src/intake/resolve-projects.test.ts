import type { Sql } from '@millrace/db';
import { type ConsumerBed, createConsumerBed } from '../testing/consumer-bed.ts';
import { createProjectResolver } from './resolve-projects.ts';

let bed: ConsumerBed;
beforeAll(async () => {
  bed = await createConsumerBed();
});
afterAll(() => bed.stop());

function countingSql(): Sql & { statements: number } {
  const counting = {
    statements: 0,
    query: ((text, values) => {
      counting.statements += 1;
      return bed.database.sql.query(text, values);
    }) as Sql['query'],
  };
  return counting;
}

test('finds all projects of a batch with one statement and remembers them', async () => {
  const sql = countingSql();
  const resolver = createProjectResolver({ sql });
  const [a, b] = [await bed.createProject(), await bed.createProject()];
  const found = await resolver.resolve([a.token, b.token, a.token]);
  expect(found.get(a.token)).toEqual({
    id: a.id,
    token: a.token,
    anonymizeIps: false,
    personProcessingOptOut: false,
    mayMigrate: false,
  });
  expect(found.get(b.token)?.id).toBe(b.id);
  await resolver.resolve([b.token, a.token]);
  expect(sql.statements).toBe(1);
});

test('an unknown token is asked for again, so a project made a moment later is found at once', async () => {
  const resolver = createProjectResolver({ sql: bed.database.sql });
  const project = await bed.createProject();
  await bed.database.sql.query('UPDATE environment SET api_token = $1 WHERE id = $2', ['phc_not_yet', project.id]);
  expect((await resolver.resolve([project.token])).size).toBe(0);
  await bed.database.sql.query('UPDATE environment SET api_token = $1 WHERE id = $2', [project.token, project.id]);
  expect((await resolver.resolve([project.token])).get(project.token)?.id).toBe(project.id);
});

test('a token PostgreSQL could not even compare belongs to nobody', async () => {
  const sql = countingSql();
  const resolver = createProjectResolver({ sql });
  expect((await resolver.resolve(['a\u0000b', '', 'x'.repeat(5000), '\ud800'])).size).toBe(0);
  expect(sql.statements).toBe(0);
});

test('a changed setting takes effect after the time to live', async () => {
  const project = await bed.createProject();
  const resolver = createProjectResolver({ sql: bed.database.sql, ttlMs: 1 });
  expect((await resolver.resolve([project.token])).get(project.token)?.anonymizeIps).toBe(false);
  await bed.database.sql.query('UPDATE environment SET anonymize_ips = true WHERE id = $1', [project.id]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await resolver.resolve([project.token])).get(project.token)?.anonymizeIps).toBe(true);
});

test('knows which projects have not noted an event yet', async () => {
  const resolver = createProjectResolver({ sql: bed.database.sql });
  const [a, b] = [await bed.createProject(), await bed.createProject()];
  await bed.database.sql.query('UPDATE environment SET ingested_event = true WHERE id = $1', [a.id]);
  await resolver.resolve([a.token, b.token]);
  expect(resolver.withoutEvents([a.id, b.id, b.id])).toEqual([b.id]);
  resolver.noteEvents([b.id]);
  expect(resolver.withoutEvents([a.id, b.id])).toEqual([]);
});
