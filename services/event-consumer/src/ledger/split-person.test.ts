import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { deletePersons, splitPerson } from '@millrace/db';
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

const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, [project.id, ...values]);
const at = (ms: number) => new Date(Date.now() + ms).toISOString();

const consume = (...events: Partial<CapturedEvent>[]) => topic.consume(...events);

interface Owner extends Record<string, unknown> {
  uuid: string;
}
async function ownerOf(distinctId: string): Promise<Owner> {
  const [found] = await query(
    `SELECT p.uuid, p.main_distinct_id, p.properties - '$creator_event_uuid' AS properties, p.is_identified,
            p.version, d.version AS mapping_version
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = $2`,
    [distinctId],
  );
  return found as Owner;
}

const split = (uuid: string, selection: Parameters<typeof splitPerson>[2] = { mainDistinctId: undefined }) =>
  fixture.database.transaction((tx) => splitPerson(tx, { projectId: project.id, uuid }, selection));

async function personsOfEvents(): Promise<Record<string, string[]>> {
  const rows = await query(
    `SELECT e.distinct_id, array_agg(DISTINCT coalesce(o.person_uuid, e.person_id)::text) AS persons
       FROM event e
       LEFT JOIN person_distinct_id o
         ON o.project_id = e.project_id AND o.distinct_id = e.distinct_id AND o.version > 0
      WHERE e.project_id = $1 GROUP BY e.distinct_id`,
  );
  return Object.fromEntries(rows.map((row) => [row.distinct_id, row.persons]));
}

/** `phone` creates the person, and `ada` becomes its main ID. */
async function createMerged(): Promise<Owner> {
  await consume(
    { distinct_id: 'phone', properties: { $set: { plan: 'pro' } } },
    { distinct_id: 'ada', event: '$identify', properties: { $anon_distinct_id: 'phone' } },
    { distinct_id: 'ada' },
  );
  return ownerOf('ada');
}

test('assigns both earlier and later events of a split ID to its new person', async () => {
  const person = await createMerged();
  expect(await split(person.uuid)).toEqual([{ distinct_id: 'phone', uuid: expect.any(String) }]);
  const fresh = await ownerOf('phone');
  expect(fresh).toMatchObject({ main_distinct_id: 'phone', properties: {}, is_identified: false });
  expect(fresh.uuid).not.toBe(person.uuid);
  expect(await ownerOf('ada')).toMatchObject({
    uuid: person.uuid,
    main_distinct_id: 'ada',
    properties: { plan: 'pro' },
  });
  await consume({ distinct_id: 'phone', properties: { $set: { plan: 'free' } } }, { distinct_id: 'ada' });
  await consume({ distinct_id: 'phone', properties: { $process_person_profile: false } });
  expect(await personsOfEvents()).toEqual({ phone: [fresh.uuid], ada: [person.uuid] });
  expect(await ownerOf('ada')).toMatchObject({ properties: { plan: 'pro' } });
  expect(await ownerOf('phone')).toMatchObject({ properties: { plan: 'free' } });
});

test('the same ID can be merged and split repeatedly', async () => {
  const person = await createMerged();
  const uuids = new Set([person.uuid]);
  for (let round = 0; round < 3; round += 1) {
    await split(person.uuid);
    uuids.add((await ownerOf('phone')).uuid);
    await consume({ distinct_id: 'ada', event: '$identify', properties: { $anon_distinct_id: 'phone' } });
    expect((await ownerOf('phone')).uuid).toBe(person.uuid);
  }
  expect(uuids.size).toBe(4);
  expect(await personsOfEvents()).toEqual({ phone: [person.uuid], ada: [person.uuid] });
});

test('repeats a batch if it read a person before the person was split', async () => {
  const person = await createMerged();
  let isSplit = false;
  const racing: ProcessBatchDeps = {
    ...deps,
    database: watchedDatabase(fixture.database, async (statement) => {
      if (isSplit || !statement.includes('p.version = read.version')) return;
      isSplit = true;
      await split(person.uuid);
    }),
  };
  const batch = topic.nextBatch(
    { distinct_id: 'phone', properties: { $set: { seats: 7 } } },
    { distinct_id: 'eve', event: '$merge_dangerously', properties: { alias: 'ada' } },
  );
  const run = (lockFirst: boolean) => processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst }, racing);
  await expect(run(false)).rejects.toThrow('a person');
  expect(await run(true)).toMatchObject({ stored: 2 });
  expect(await ownerOf('phone')).toMatchObject({ properties: { seats: 7 } });
  expect((await ownerOf('eve')).uuid).toBe((await ownerOf('ada')).uuid);
  expect((await ownerOf('phone')).uuid).not.toBe((await ownerOf('ada')).uuid);
  expect((await ownerOf('ada')).properties).toEqual({ plan: 'pro' });
});

test('does not reattach a split ID to its original person after a deletion that left only a hash of the ID', async () => {
  const person = await createMerged();
  await split(person.uuid);
  const fresh = await ownerOf('phone');
  const remove = (uuid: string) =>
    fixture.database.transaction((tx) =>
      deletePersons(tx, {
        ...{ projectId: project.id, organizationId: randomUUID(), uuids: [uuid], deletesEvents: false },
        actor: { command: 'test' },
      }),
    );
  await remove(fresh.uuid);
  expect(await query('SELECT split_from FROM deleted_distinct_id WHERE project_id = $1')).toEqual([
    { split_from: person.uuid },
  ]);
  // The worker deletes the ID itself at the end of the deletion. It keeps the hash while the original person exists.
  await query('UPDATE deleted_distinct_id SET distinct_id = NULL, done_until = NULL WHERE project_id = $1');
  await consume({ distinct_id: 'phone', now: at(5000), properties: { $process_person_profile: false } });
  await consume({ distinct_id: 'phone', now: at(5000), properties: { $set: { a: 1 } } }, { distinct_id: 'ada' });
  const back = await ownerOf('phone');
  expect([person.uuid, fresh.uuid]).not.toContain(back.uuid);
  expect((await ownerOf('ada')).properties).toEqual({ plan: 'pro' });
  const { phone } = await personsOfEvents();
  expect(phone).toEqual([back.uuid]);
});

test('splitting persons while batches merge and change them causes no deadlock, no orphan and no lost update', async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `p${index}`);
  const pick = (n: number) => ids[n % ids.length] ?? '';
  let isOver = false;
  let splits = 0;
  const sets: { id: string; key: string }[] = [];

  async function consumeRounds(member: number): Promise<void> {
    const memberDeps = fixture.createDeps({ partitions: deps.partitions });
    for (let round = 0; !isOver && (round < 25 || splits <= 10); round += 1) {
      const events = ids.flatMap((id, n) => {
        const key = `k${member}_${round}_${n}`;
        sets.push({ id, key });
        return [
          capturedEvent(project.token, { distinct_id: id, properties: { $set: { [key]: true } } }),
          capturedEvent(project.token, {
            distinct_id: pick(n + member + round),
            event: '$merge_dangerously',
            properties: { alias: id },
          }),
        ];
      });
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
  async function splitAll(): Promise<void> {
    while (!isOver) {
      for (const { uuid } of await query('SELECT uuid FROM person WHERE project_id = $1')) {
        // The split can fail because the person was merged into a different one in the meantime.
        const moved = await split(String(uuid)).catch((error: Error) => {
          expect(error.message).toBe('Not found.');
          return [];
        });
        splits += moved.length;
      }
    }
  }
  const stop = () => {
    isOver = true;
  };
  const consuming = Promise.all([consumeRounds(1), consumeRounds(2), consumeRounds(3)]).finally(stop);
  await Promise.all([consuming, splitAll().finally(stop)]);
  expect(
    await query(
      `SELECT d.distinct_id FROM person_distinct_id d
         LEFT JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
        WHERE d.project_id = $1 AND p.uuid IS NULL`,
    ),
  ).toEqual([]);
  expect(
    await query(
      `SELECT p.uuid FROM person p WHERE p.project_id = $1 AND NOT EXISTS (
              SELECT FROM person_distinct_id d
               WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid AND d.distinct_id = p.main_distinct_id)`,
    ),
  ).toEqual([]);
  const owners = await query('SELECT distinct_id, person_uuid FROM person_distinct_id WHERE project_id = $1');
  expect(await personsOfEvents()).toEqual(
    Object.fromEntries(owners.map((row) => [row.distinct_id, [row.person_uuid]])),
  );
  // Every property that was set is on one of the persons, so no update is lost.
  const [row] = await query(
    `SELECT array_agg(DISTINCT key) AS keys FROM person p, jsonb_object_keys(p.properties) AS key WHERE p.project_id = $1`,
  );
  const stored = new Set(row?.keys as string[]);
  expect(sets.filter(({ key }) => !stored.has(key))).toEqual([]);
}, 120_000);
