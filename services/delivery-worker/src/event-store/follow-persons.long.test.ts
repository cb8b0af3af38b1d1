import { deletePersons, splitPerson } from '@millrace/db';
import { connectClickHouse, copyPersonPortion, restartPersonCopy } from '@millrace/insights';
import { createTestTenant, installClickHouseOrNull, startClickHouse, type TestClickHouse } from '@millrace/testing';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createPersonCopyMetrics, createPersonFollower, stopRecordingPersonChanges } from './follow-persons.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('the copy of persons and moved distinct IDs in ClickHouse', () => {
  let fixture: WorkerFixture;
  let server: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  let gauge: ReturnType<typeof createPersonCopyMetrics>;
  beforeAll(async () => {
    fixture = await startWorkerFixture();
    server = await startClickHouse(String(modules));
    client = connectClickHouse(server.url);
    gauge = createPersonCopyMetrics(fixture.metrics);
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
    await fixture.stop();
  });
  beforeEach(async () => {
    await stopRecordingPersonChanges(fixture.database);
    await client.command({ query: 'DROP TABLE IF EXISTS person_copy' });
    await client.command({ query: 'DROP TABLE IF EXISTS moved_id_copy' });
  });

  const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);
  const target = () => ({ client, postgres: { url: fixture.databaseUrl } });
  const copyPortion = (size?: number) => copyPersonPortion({ ...target(), database: fixture.database }, { size });
  const copyAll = async () => {
    const follow = createPersonFollower({ database: fixture.database, target: target(), gauge });
    while (await follow());
  };
  const lag = async () => (await gauge.get()).values[0]?.value ?? 0;

  async function createPersons(names: readonly string[]) {
    const { environmentId, organizationId } = await createTestTenant(fixture.database);
    await query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1::int, gen_random_uuid(), name, jsonb_build_object('name', name, 'wide', 18446744073709551616), '2026-11-10T12:00Z'
         FROM unnest($2::text[]) AS name`,
      [environmentId, names],
    );
    await query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
       SELECT project_id, main_distinct_id, uuid FROM person WHERE project_id = $1`,
      [environmentId],
    );
    return { project: environmentId, organizationId };
  }

  interface PersonRow {
    uuid: string;
    properties: string;
    is_identified: boolean;
    created_ms: number;
  }
  const columns = 'uuid, properties, is_identified, created_ms';
  async function read(projectId: number) {
    const result = await client.query({
      query: `SELECT ${columns} FROM person WHERE project_id = {id:Int32} ORDER BY toString(uuid)`,
      query_params: { id: projectId },
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
      format: 'JSONEachRow',
    });
    const rows = await fixture.database.sql.query<PersonRow & Record<string, unknown>>(
      `SELECT uuid, properties::text AS properties, is_identified, created_ms::float8 AS created_ms FROM clickhouse.person
        WHERE project_id = $1 ORDER BY uuid`,
      [projectId],
    );
    return { copied: await result.json<PersonRow>(), stored: rows };
  }
  async function readMovedIds(projectId: number) {
    const select = async (text: string, query_params: Record<string, unknown>) => {
      const result = await client.query({ query: text, query_params, format: 'JSONCompactEachRow' });
      return Object.fromEntries(await result.json<[string, string]>());
    };
    const stored = await fixture.database.sql.query<{ id: string; person: string }>(
      'SELECT distinct_id AS id, person_uuid::text AS person FROM clickhouse.moved_id WHERE project_id = $1 ORDER BY 1',
      [projectId],
    );
    const hashes = await select(
      'SELECT id, toString(cityHash64(id)) FROM (SELECT arrayJoin({ids:Array(String)}) AS id)',
      {
        ids: stored.map(({ id }) => id),
      },
    );
    return {
      copied: await select(
        'SELECT toString(distinct_id_hash), toString(person_uuid) FROM moved_id WHERE project_id = {id:Int32}',
        { id: projectId },
      ),
      stored: Object.fromEntries(stored.map(({ id, person }) => [hashes[id], person])),
    };
  }
  async function engineOfPersons() {
    const result = await client.query({
      query: `SELECT DISTINCT engine FROM system.tables WHERE database = currentDatabase() AND name IN ('person', 'moved_id')`,
      format: 'JSONEachRow',
    });
    return (await result.json<{ engine: string }>()).map(({ engine }) => engine).join();
  }
  async function expectSame(projectId: number, { persons, movedIds = 0 }: { persons: number; movedIds?: number }) {
    const { copied, stored } = await read(projectId);
    expect(copied).toEqual(stored);
    expect(copied).toHaveLength(persons);
    const ids = await readMovedIds(projectId);
    expect(ids.copied).toEqual(ids.stored);
    expect(Object.keys(ids.copied)).toHaveLength(movedIds);
  }
  const recorded = async () => (await query('SELECT 1 FROM event_store_person_change')).length;

  test('copies new, changed, merged, split and deleted persons', async () => {
    const { project, organizationId } = await createPersons(['ada', 'ben', 'cleo', 'dora']);
    await copyAll();
    expect(await engineOfPersons()).toBe('View');
    await expectSame(project, { persons: 4 });

    const uuidOf = async (name: string) =>
      String(
        (await query('SELECT uuid FROM person WHERE project_id = $1 AND main_distinct_id = $2', [project, name]))[0]
          ?.uuid,
      );
    // Merge two persons as the consumer does.
    await query(
      `UPDATE person SET properties = '{"plan": "pro"}', is_identified = true, created_at = created_at - interval '1 day'
        WHERE project_id = $1 AND main_distinct_id = 'ada'`,
      [project],
    );
    await query(
      'UPDATE person_distinct_id SET person_uuid = $2, version = 1 WHERE project_id = $1 AND person_uuid = $3',
      [project, await uuidOf('ada'), await uuidOf('ben')],
    );
    await query(`DELETE FROM person WHERE project_id = $1 AND main_distinct_id = 'ben'`, [project]);
    await copyAll();
    await expectSame(project, { persons: 3, movedIds: 1 });

    const at = { projectId: project, uuid: await uuidOf('ada') };
    await fixture.database.transaction((tx) => splitPerson(tx, at, { mainDistinctId: undefined }));
    await copyAll();
    await expectSame(project, { persons: 4, movedIds: 1 });

    // Link one ID to an existing person, and let another ID create its own person.
    await query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
       SELECT $1, id, $2, version FROM (VALUES ('linked', 1), ('own', 0)) AS v (id, version)`,
      [project, await uuidOf('cleo')],
    );
    expect(await recorded()).toBe(1);
    await copyAll();
    await expectSame(project, { persons: 4, movedIds: 2 });

    const uuids = [await uuidOf('cleo')];
    const actor = { command: 'test' };
    await fixture.database.transaction((tx) =>
      deletePersons(tx, { projectId: project, organizationId, uuids, deletesEvents: false, actor }),
    );
    await copyAll();
    await expectSame(project, { persons: 3, movedIds: 1 });
    for (const table of ['person_copy', 'moved_id_copy'])
      await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    await expectSame(project, { persons: 3, movedIds: 1 });
    expect(await recorded()).toBe(0);

    await query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, created_at) VALUES ($1, $2, 'cleo', '2026-11-11')`,
      [project, uuids[0]],
    );
    await copyAll();
    await expectSame(project, { persons: 4, movedIds: 1 });
  });

  test('queries read PostgreSQL until all persons are copied, and an interrupted copy continues', async () => {
    const { project } = await createPersons(['a', 'b', 'c', 'd', 'e']);
    const move = (ids: string) =>
      query('UPDATE person_distinct_id SET version = version + 1 WHERE project_id = $1 AND distinct_id = ANY ($2)', [
        project,
        ids.split(' '),
      ]);
    await move('a b c');
    await copyPortion(2);
    expect(await engineOfPersons()).toBe('PostgreSQL');
    await expectSame(project, { persons: 5, movedIds: 3 });
    await move('d');
    await query(`DELETE FROM person_distinct_id WHERE project_id = $1 AND distinct_id = 'a'`, [project]);
    // The interrupted copy contains some of these persons, but not all of them.
    await query(`UPDATE person SET properties = '{"n": 1}' WHERE project_id = $1 AND main_distinct_id IN ('a', 'e')`, [
      project,
    ]);
    await query(`DELETE FROM person WHERE project_id = $1 AND main_distinct_id IN ('b', 'd')`, [project]);
    // Simulate a worker that crashed: its claim lasts until it expires.
    await query(`UPDATE event_store_copy SET claimed_until = now() + interval '1 minute'`);
    expect(await copyPortion(2)).toBeNull();
    await query(`UPDATE event_store_copy SET claimed_until = now() - interval '1 second'`);
    while ((await copyPortion(2))?.hasMore);
    expect(await engineOfPersons()).toBe('View');
    await expectSame(project, { persons: 3, movedIds: 3 });
  });

  test("copies a person's change that was recorded before others but committed after them", async () => {
    const { project } = await createPersons(['early', 'late']);
    await copyAll();
    const change = (name: string) =>
      [`UPDATE person SET properties = '{"n": 2}' WHERE main_distinct_id = $1`, [name]] as const;
    await fixture.database.transaction(async (tx) => {
      await tx.query(change('early')[0], [...change('early')[1]]);
      await query(change('late')[0], [...change('late')[1]]);
      await copyAll();
    });
    await copyAll();
    await expectSame(project, { persons: 2 });
    expect(await recorded()).toBe(0);
  });

  test('loses no changes to persons while ClickHouse is unavailable, and reports a growing lag', async () => {
    const { project } = await createPersons(['a']);
    await copyAll();
    await query(`UPDATE event_store_copy SET copied_until = now() - interval '1 hour'`);
    await query(`UPDATE person SET properties = '{"n": 3}' WHERE project_id = $1`, [project]);
    const unreachable = createPersonFollower({
      database: fixture.database,
      target: { ...target(), client: connectClickHouse('http://127.0.0.1:9') },
      gauge,
    });
    await expect(unreachable()).rejects.toThrow();
    expect(await lag()).toBeGreaterThan(3500);
    expect(await recorded()).toBe(1);
    gauge.set(0);
    await query(`UPDATE event_store_copy SET claimed_until = now() + interval '1 minute'`);
    await copyAll();
    expect(await lag()).toBeGreaterThan(3500);
    await query('UPDATE event_store_copy SET claimed_until = NULL');
    await copyAll();
    await expectSame(project, { persons: 1 });
    expect(await lag()).toBeLessThan(60);
  });

  test('copies the current state of each person after ClickHouse is killed during the copy', async () => {
    const { project } = await createPersons(Array.from({ length: 2000 }, (_, at) => `person ${at}`));
    for (const killedAfterMs of [20, 60, 120, 250]) {
      const copying = copyPortion(500).catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
      await server.kill();
      await copying;
      await query(`UPDATE person SET properties = $2 WHERE project_id = $1 AND main_distinct_id LIKE '%7'`, [
        project,
        JSON.stringify({ killedAfterMs }),
      ]);
      await query(`DELETE FROM person WHERE project_id = $1 AND main_distinct_id LIKE $2`, [
        project,
        `%${killedAfterMs}`,
      ]);
      await server.restart();
      // Release the claim too, as if the worker had restarted.
      await query('UPDATE event_store_copy SET claimed_until = NULL');
    }
    await copyAll();
    expect(await engineOfPersons()).toBe('View');
    const { copied, stored } = await read(project);
    expect(copied).toEqual(stored);
  });

  test.each([
    ['on request', () => restartPersonCopy(fixture.database.sql)],
    ['after its table was lost', () => client.command({ query: 'DROP TABLE person_copy' })],
    ['after the table of moved IDs was lost', () => client.command({ query: 'DROP TABLE moved_id_copy' })],
  ])('rebuilds the copy of persons %s', async (_, restart) => {
    const { project } = await createPersons(['a', 'b']);
    await query('UPDATE person_distinct_id SET version = 1 WHERE project_id = $1', [project]);
    await copyAll();
    await client.command({
      query: `INSERT INTO person_copy (project_id, uuid, properties, version) SELECT project_id, uuid, '{"wrong": true}', version + 1 FROM person_copy`,
    });
    await restart();
    await copyPortion(1);
    expect(await engineOfPersons()).toBe('PostgreSQL');
    await expectSame(project, { persons: 2, movedIds: 2 });
    await copyAll();
    expect(await engineOfPersons()).toBe('View');
    await expectSame(project, { persons: 2, movedIds: 2 });
  });

  test('records no changes to persons without ClickHouse, and copies all persons again when it is configured', async () => {
    const { project } = await createPersons(['a', 'b']);
    await copyAll();
    await stopRecordingPersonChanges(fixture.database);
    await query(`UPDATE person SET properties = '{"n": 4}' WHERE project_id = $1 AND main_distinct_id = 'a'`, [
      project,
    ]);
    await query(`DELETE FROM person WHERE project_id = $1 AND main_distinct_id = 'b'`, [project]);
    expect(await recorded()).toBe(0);
    await copyAll();
    await expectSame(project, { persons: 1 });
  });
});
