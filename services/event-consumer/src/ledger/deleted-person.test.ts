import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { deletePersons } from '@millrace/db';
import { type ProcessBatchDeps, processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  createTestTopic,
  logBatch,
  type TestProject,
  type TestTopic,
} from '../testing/consumer-fixture.ts';
import { watchedDatabase } from '../testing/watched-database.ts';

/** Tests persons that are deleted while their events wait in the log, and IDs that are used again. */
let fixture: ConsumerFixture;
let deps: ProcessBatchDeps;
let project: TestProject;
let topic: TestTopic;
beforeAll(async () => {
  fixture = await createConsumerFixture();
  deps = fixture.createDeps();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = createTestTopic(deps, project);
});

const consume = (...events: Partial<CapturedEvent>[]) => topic.consume(...events);

async function personOf(distinctId: string) {
  const [found] = await fixture.database.sql.query(
    `SELECT p.uuid, p.properties - '$creator_event_uuid' AS properties, p.version, d.version AS mapping_version
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = $2`,
    [project.id, distinctId],
  );
  return found;
}

async function deletePersonOf(distinctId: string): Promise<void> {
  const { uuid } = (await personOf(distinctId)) as { uuid: string };
  const deletions = await fixture.database.transaction((tx) =>
    deletePersons(tx, {
      projectId: project.id,
      organizationId: randomUUID(),
      uuids: [uuid],
      deletesEvents: true,
      actor: { command: 'test' },
    }),
  );
  expect(deletions).toMatchObject([{ personUuid: uuid }]);
}

const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const eventsOf = (distinctId: string) =>
  fixture.database.sql.query('SELECT uuid, person_id FROM event WHERE project_id = $1 AND distinct_id = $2', [
    project.id,
    distinctId,
  ]);

test('drops events that were captured before the deletion of their person, and counts them', async () => {
  const waited = at(-1000);
  await consume({ distinct_id: 'ada', properties: { $set: { email: 'ada@example.com' } } });
  await deletePersonOf('ada');
  const report = await consume(
    { distinct_id: 'ada', now: waited, properties: { $set: { email: 'ada@example.com' } } },
    { distinct_id: 'ada-2', now: waited, event: '$identify', properties: { $anon_distinct_id: 'ada' } },
    { distinct_id: 'ada', now: waited, properties: { $process_person_profile: false } },
    { distinct_id: 'bob', now: waited },
  );
  expect(report).toMatchObject({ stored: 1, dropped: ['person_deleted', 'person_deleted', 'person_deleted'] });
  expect(await personOf('ada')).toBeUndefined();
  expect(await personOf('ada-2')).toBeUndefined();
  expect(await eventsOf('ada')).toHaveLength(1);
  expect(
    await fixture.database.sql.query('SELECT 1 FROM ingestion_warning WHERE project_id = $1', [project.id]),
  ).toEqual([]);
});

test('creates a new person each time an ID of a deleted person is used again', async () => {
  const uuids = new Set<unknown>();
  for (let life = 0; life < 3; life += 1) {
    await consume({ distinct_id: 'ada', now: at(1000 * life), properties: { $set: { [`life_${life}`]: life } } });
    const person = await personOf('ada');
    expect(person).toMatchObject({
      properties: { [`life_${life}`]: life },
      version: '0',
      mapping_version: String(life),
    });
    uuids.add(person?.uuid);
    // Wait, because the next person's events must be captured after the deletion.
    await fixture.database.sql.query('SELECT pg_sleep(0.01)');
    await deletePersonOf('ada');
    await fixture.database.sql.query("UPDATE deleted_distinct_id SET deleted_at = deleted_at - interval '1 second'");
  }
  expect(uuids.size).toBe(3);
});

test('an event without person processing contains the person UUID that its ID would currently get', async () => {
  await consume({ distinct_id: 'ada' });
  const before = await personOf('ada');
  await deletePersonOf('ada');
  const later = { distinct_id: 'ada', now: at(5000) };
  await consume({ ...later, properties: { $process_person_profile: false } }, { ...later });
  const after = await personOf('ada');
  const rows = await eventsOf('ada');
  expect(rows.map(({ person_id }) => person_id).sort()).toEqual([before?.uuid, after?.uuid, after?.uuid].sort());
});

test('deletes all IDs of a merged person, each of which can then get a separate new person', async () => {
  await consume(
    { distinct_id: 'phone' },
    { distinct_id: 'ada', event: '$identify', properties: { $anon_distinct_id: 'phone' } },
  );
  // Do not use the ID `anonymous` here, because it is never merged.
  expect((await personOf('phone'))?.uuid).toBe((await personOf('ada'))?.uuid);
  await deletePersonOf('phone');
  await consume({ distinct_id: 'phone', now: at(5000) }, { distinct_id: 'ada', now: at(5000) });
  const [phone, ada] = [await personOf('phone'), await personOf('ada')];
  expect(phone?.uuid).not.toBe(ada?.uuid);
});

test('a batch does not write a person back that was deleted after the batch had read it', async () => {
  await consume({ distinct_id: 'ada', properties: { $set: { email: 'ada@example.com' } } });
  let isDeleted = false;
  const racing: ProcessBatchDeps = {
    ...deps,
    database: watchedDatabase(fixture.database, async (statement) => {
      if (isDeleted || !statement.includes('p.version = read.version')) return;
      isDeleted = true;
      await deletePersonOf('ada');
    }),
  };
  const batch = topic.nextBatch({ distinct_id: 'ada', properties: { $set: { plan: 'pro' } } });
  const run = (lockFirst: boolean) => processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst }, racing);
  await expect(run(false)).rejects.toThrow('a person');
  expect(await run(true)).toMatchObject({ stored: 0, dropped: ['person_deleted'] });
  expect(await personOf('ada')).toBeUndefined();
});

test('a batch does not recreate a person that was created and deleted after the batch looked it up', async () => {
  // Use a separate process, because within one process the second batch would wait for the first.
  const otherDeps = fixture.createDeps({ partitions: deps.partitions });
  const events = () => [capturedEvent(project.token, { distinct_id: 'ada', now: at(5000) })];
  const run = (lockFirst: boolean, at: string, using: ProcessBatchDeps) =>
    processBatch({ batch: logBatch(at, 0, events()), group: 'g', deadLetterReason: null, lockFirst }, using);
  let isDeleted = false;
  const racing: ProcessBatchDeps = {
    ...deps,
    database: watchedDatabase(fixture.database, async (statement) => {
      if (isDeleted || !statement.includes('INSERT INTO person (')) return;
      isDeleted = true;
      await run(false, `${topic.name}-first`, otherDeps);
      await deletePersonOf('ada');
    }),
  };
  await expect(run(false, `${topic.name}-second`, racing)).rejects.toThrow('a deleted person');
  expect(await run(true, `${topic.name}-second`, racing)).toMatchObject({ stored: 1, dropped: [] });
  const deletions = await fixture.database.sql.query(
    'SELECT 1 FROM person_deletion WHERE project_id = $1 AND person_uuid = $2',
    [project.id, (await personOf('ada'))?.uuid],
  );
  expect(deletions).toEqual([]);
}, 60_000);

test('deleting persons while batches create, merge and change them causes no deadlock and leaves no rows behind', async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `p${index}`);
  const uuidsNow = () =>
    fixture.database.sql.query<{ uuid: string }>('SELECT uuid FROM person WHERE project_id = $1', [project.id]);
  const pick = (n: number) => ids[n % ids.length] ?? '';
  let isOver = false;
  let deleted = 0;

  async function consumeRounds(member: number): Promise<void> {
    const memberDeps = fixture.createDeps({ partitions: deps.partitions });
    for (let round = 0; round < 25 || deleted <= 10; round += 1) {
      const events = ids.flatMap((id, n) => [
        capturedEvent(project.token, {
          distinct_id: id,
          now: at(60_000),
          properties: { $set: { [`k${member}`]: round } },
        }),
        capturedEvent(project.token, {
          distinct_id: pick(n + member + round),
          now: at(60_000),
          event: '$create_alias',
          properties: { alias: id },
        }),
      ]);
      const batch = logBatch(`${topic.name}-${member}`, round * events.length, events);
      const outcome = async (lockFirst: boolean) =>
        processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst }, memberDeps).catch(
          (error: Error) => error,
        );
      for (let result = await outcome(false); result instanceof Error; result = await outcome(true)) {
        // The loser of the race gets a LedgerConflict and is retried. A deadlock would be a bug in the lock order.
        expect([result.name, 'code' in result ? result.code : null]).toEqual(['LedgerConflict', null]);
      }
    }
  }
  async function deleteAll(): Promise<void> {
    while (!isOver) {
      const uuids = (await uuidsNow()).map(({ uuid }) => uuid);
      const request = { projectId: project.id, organizationId: randomUUID(), uuids, deletesEvents: false };
      const gone = await fixture.database.transaction((tx) =>
        deletePersons(tx, { ...request, actor: { command: 'test' } }),
      );
      deleted += gone.length;
    }
  }
  const deleting = deleteAll();
  await Promise.all([consumeRounds(1), consumeRounds(2), consumeRounds(3)]);
  isOver = true;
  await deleting;
  const orphans = await fixture.database.sql.query(
    `SELECT d.distinct_id FROM person_distinct_id d
       LEFT JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND p.uuid IS NULL`,
    [project.id],
  );
  expect(orphans).toEqual([]);
  const again = await fixture.database.sql.query(
    `SELECT 1 FROM person p JOIN person_deletion d ON d.project_id = p.project_id AND d.person_uuid = p.uuid
      WHERE p.project_id = $1`,
    [project.id],
  );
  expect(again).toEqual([]);
});
