import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { deletePersons } from '@millrace/db';
import type { ProcessBatchDeps } from '../process-batch.ts';
import {
  type ConsumerFixture,
  createConsumerFixture,
  createTestTopic,
  type TestProject,
  type TestTopic,
} from '../testing/consumer-fixture.ts';

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
const identify = (distinctId: string, anonymous: string): Partial<CapturedEvent> => ({
  distinct_id: distinctId,
  event: '$identify',
  properties: { $anon_distinct_id: anonymous },
});

async function uuidOf(distinctId: string): Promise<string> {
  const [row] = await fixture.database.sql.query<{ person_uuid: string }>(
    'SELECT person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = $2',
    [project.id, distinctId],
  );
  return row?.person_uuid ?? '';
}
async function join(cohortId: number, ...distinctIds: string[]): Promise<void> {
  for (const one of distinctIds) {
    await fixture.database.sql.query(
      'INSERT INTO cohort_member (project_id, cohort_id, person_uuid) VALUES ($1, $2, $3)',
      [project.id, cohortId, await uuidOf(one)],
    );
  }
}
async function bucket(distinctId: string, flagKey: string, hashKey: string): Promise<void> {
  await fixture.database.sql.query('INSERT INTO feature_flag_hash_key VALUES ($1, $2, $3, $4)', [
    project.id,
    await uuidOf(distinctId),
    flagKey,
    hashKey,
  ]);
}
const members = () =>
  fixture.database.sql.query(
    'SELECT cohort_id, person_uuid FROM cohort_member WHERE project_id = $1 ORDER BY cohort_id, person_uuid',
    [project.id],
  );
const buckets = () =>
  fixture.database.sql.query(
    'SELECT person_uuid, flag_key, hash_key FROM feature_flag_hash_key WHERE project_id = $1 ORDER BY flag_key',
    [project.id],
  );

test('ingest-088, ingest-089: a merge moves memberships and hash keys to the survivor, who keeps its own hash keys', async () => {
  await consume({ distinct_id: 'anon' }, { distinct_id: 'user' });
  await join(1, 'anon', 'user');
  await join(2, 'anon');
  await bucket('anon', 'beta', 'anon');
  await bucket('anon', 'checkout', 'anon');
  await bucket('user', 'beta', 'user');
  await consume(identify('user', 'anon'));
  const person_uuid = await uuidOf('user');
  expect(await members()).toEqual([
    { cohort_id: 1, person_uuid },
    { cohort_id: 2, person_uuid },
  ]);
  expect(await buckets()).toEqual([
    { person_uuid, flag_key: 'beta', hash_key: 'user' },
    { person_uuid, flag_key: 'checkout', hash_key: 'anon' },
  ]);
});

test('moves memberships and hash keys when persons are merged into a new one in several steps', async () => {
  await consume({ distinct_id: 'a' }, { distinct_id: 'b' }, { distinct_id: 'c' });
  await join(1, 'a', 'b', 'c');
  for (const one of ['a', 'b', 'c']) await bucket(one, 'beta', one);
  await consume(
    { ...identify('b', 'a') },
    { distinct_id: 'd', event: '$merge_dangerously', properties: { alias: 'b' } },
    { distinct_id: 'd', event: '$merge_dangerously', properties: { alias: 'c' } },
  );
  const person_uuid = await uuidOf('d');
  expect(new Set(await Promise.all(['a', 'b', 'c', 'd'].map(uuidOf)))).toEqual(new Set([person_uuid]));
  expect(await members()).toEqual([{ cohort_id: 1, person_uuid }]);
  expect(await buckets()).toEqual([{ person_uuid, flag_key: 'beta', hash_key: expect.stringMatching(/^[abc]$/) }]);
});

test('does not move memberships or hash keys when a merge is rejected', async () => {
  await consume({ distinct_id: 'user' }, identify('known', 'some-anon'));
  await join(1, 'known');
  await consume(identify('user', 'known'));
  expect(await members()).toEqual([{ cohort_id: 1, person_uuid: await uuidOf('known') }]);
});

test("deletes a person's memberships and hash keys together with the person", async () => {
  await consume({ distinct_id: 'ada' }, { distinct_id: 'bob' });
  await join(1, 'ada', 'bob');
  await bucket('ada', 'beta', 'ada');
  const uuids = [await uuidOf('ada')];
  const request = { projectId: project.id, organizationId: randomUUID(), uuids, deletesEvents: false };
  await fixture.database.transaction((tx) => deletePersons(tx, { ...request, actor: { command: 'test' } }));
  expect(await members()).toEqual([{ cohort_id: 1, person_uuid: await uuidOf('bob') }]);
  expect(await buckets()).toEqual([]);
});
