import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { addPersonsToCohort, type MembersToAdd } from '@millrace/flags/cohorts';
import { eventually, seededRandom } from '@millrace/testing';
import { type ProcessBatchDeps, processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { watchedDatabase } from '../testing/watched-database.ts';

/** Tests that no member is lost if a person is added to a static cohort while being merged. */
let fixture: ConsumerFixture;
let project: TestProject;
let topic: string;
let offset: number;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = randomUUID();
  offset = 0;
});

const cohortId = 7;
const byEach = ['person_id', 'distinct_id', 'email'] as const;
const emailOf = (distinctId: string) => `${distinctId}@example.com`;

async function consume(events: Partial<CapturedEvent>[], deps: ProcessBatchDeps = fixture.createDeps()): Promise<void> {
  const contents = events.map((one) => capturedEvent(project.token, one));
  const batch = logBatch(topic, offset, contents);
  offset += contents.length;
  await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, deps);
}
const person = (distinctId: string): Partial<CapturedEvent> => ({
  distinct_id: distinctId,
  properties: { $set: { email: emailOf(distinctId) } },
});
const merge = (into: string, other: string): Partial<CapturedEvent> => ({
  distinct_id: into,
  event: '$merge_dangerously',
  properties: { alias: other },
});

async function uuidsOf(distinctIds: string[]): Promise<string[]> {
  const rows = await fixture.database.sql.query<{ person_uuid: string }>(
    'SELECT DISTINCT person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = ANY ($2)',
    [project.id, distinctIds],
  );
  return rows.map(({ person_uuid }) => person_uuid).sort();
}
async function named(by: MembersToAdd['by'], distinctIds: string[]): Promise<MembersToAdd> {
  if (by === 'email') return { by, values: distinctIds.map(emailOf) };
  return { by, values: by === 'person_id' ? await uuidsOf(distinctIds) : distinctIds };
}
const add = (members: MembersToAdd, database: Pick<ConsumerFixture['database'], 'transaction'> = fixture.database) =>
  addPersonsToCohort(database, { projectId: project.id, cohortId }, members);
async function memberUuids(): Promise<string[]> {
  const rows = await fixture.database.sql.query<{ person_uuid: string }>(
    'SELECT person_uuid FROM cohort_member WHERE project_id = $1 ORDER BY person_uuid',
    [project.id],
  );
  return rows.map(({ person_uuid }) => person_uuid);
}
const hasWaitingSession = () =>
  eventually(
    async () => {
      const [row] = await fixture.database.sql.query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (row?.waiting ?? 0) > 0;
    },
    { what: 'a statement that waits for a lock' },
  );

test.each(byEach)(
  'a merge waits until a person has been added to a cohort (by %s), and then moves the membership',
  async (by) => {
    await consume([person('kept'), person('gone')]);
    let merging: Promise<void> | undefined;
    const database = watchedDatabase(fixture.database, async (text) => {
      if (merging !== undefined || !text.includes('INSERT INTO cohort_member')) return;
      merging = consume([merge('kept', 'gone')]);
      await hasWaitingSession();
    });
    expect(await add(await named(by, ['gone']), database)).toBe(1);
    await merging;
    expect(await memberUuids()).toEqual(await uuidsOf(['kept', 'gone']));
  },
);

test.each(byEach)(
  'adds the surviving person to a cohort if the added person is merged at the same time: by %s',
  async (by) => {
    await consume([person('kept'), person('gone'), person('other')]);
    const members = await named(by, ['gone', 'other']);
    let adding: Promise<number> | undefined;
    const watched = watchedDatabase(fixture.database, async (text) => {
      if (adding !== undefined || !text.includes('cohort_member')) return;
      adding = add(members);
      await hasWaitingSession();
    });
    await consume([merge('kept', 'gone')], fixture.createDeps({ database: { ...fixture.database, ...watched } }));
    expect(await adding).toBe(2);
    expect(await memberUuids()).toEqual(await uuidsOf(['kept', 'other']));
  },
);

test.each(byEach)('every person is a cohort member after many concurrent additions (by %s) and merges', async (by) => {
  const random = seededRandom(11);
  const ids = Array.from({ length: 120 }, (_, index) => `p-${index}`);
  const pick = () => ids[Math.floor(random() * ids.length)] ?? '';
  await consume(ids.map(person));
  const portions = Array.from({ length: 6 }, (_, index) => ids.slice(index * 20, index * 20 + 20));
  const members = await Promise.all(portions.map((portion) => named(by, portion)));
  const merges = async () => {
    const deps = fixture.createDeps();
    for (let batch = 0; batch < 12; batch += 1) {
      await consume(
        Array.from({ length: 4 }, () => merge(pick(), pick())),
        deps,
      );
    }
  };
  const found = Promise.all(members.map((one) => add(one)));
  await Promise.all([merges(), found]);
  expect(await memberUuids()).toEqual(await uuidsOf(ids));
});
