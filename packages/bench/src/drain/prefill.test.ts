import { addProjects, type BenchDatabase, createBenchDatabase } from '../harness/bench-database.ts';
import { prefillEvents } from './prefill.ts';

let database: BenchDatabase;

beforeAll(async () => {
  database = await createBenchDatabase('phc_bench_first');
});
afterAll(() => database.drop());

test('prefillEvents stores consistent rows in all projects', async () => {
  await addProjects(database, ['phc_bench_second', 'phc_bench_third']);
  await prefillEvents(database, 300);
  const [counts] = await database.query(
    `SELECT (SELECT count(*)::int FROM event) AS events, (SELECT count(DISTINCT project_id)::int FROM event) AS projects,
            (SELECT count(*)::int FROM person) AS persons,
            (SELECT count(*)::int FROM event JOIN event_identity USING (project_id, uuid, timestamp)) AS identified,
            (SELECT count(*)::int FROM event e JOIN person_distinct_id d USING (project_id, distinct_id)
               JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid AND p.uuid = e.person_id) AS mapped`,
  );
  expect(counts).toEqual({ events: 300, projects: 3, persons: 100, identified: 300, mapped: 300 });
});
