import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { seededRandom } from '@millrace/testing';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from './testing/consumer-fixture.ts';
import { createHandlerFixture, type HandlerFixture } from './testing/handler-fixture.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const members = 4;
const batchesPerMember = 40;
const eventsPerBatch = 6;

/**
 * Runs members of one group on separate partitions. Their events constantly refer to the same few persons and groups,
 * which causes far more collisions than real traffic. Each process has `perProcess` members, which share its turns.
 */
async function collide(project: TestProject, seed: number, people: number, perProcess: number) {
  const random = seededRandom(seed);
  const personId = () => `person-${Math.floor(random() * people)}`;
  const sent: CapturedEvent[] = [];
  const makeEvent = (): CapturedEvent => {
    const event = capturedEvent(project.token, { distinct_id: personId() });
    // Each event sets a different property of the person, so that a lost update is detected.
    const $set = { [`set_${sent.length}`]: true };
    const dice = random();
    if (dice < 0.2) Object.assign(event, { event: '$identify', properties: { $anon_distinct_id: personId(), $set } });
    else if (dice < 0.35) Object.assign(event, { event: '$create_alias', properties: { alias: personId(), $set } });
    else if (dice < 0.4) Object.assign(event, { event: '$merge_dangerously', properties: { alias: personId(), $set } });
    else if (dice < 0.6) {
      const $group_set = { [`set_${sent.length}`]: true };
      const type = `type-${Math.floor(random() * 4)}`;
      const key = `group-${Math.floor(random() * 3)}`;
      Object.assign(event, { event: '$groupidentify', properties: { $group_type: type, $group_key: key, $group_set } });
    } else if (dice < 0.7) Object.assign(event, { properties: { $process_person_profile: false } });
    else Object.assign(event, { properties: { $set, $groups: { [`type-${Math.floor(random() * 4)}`]: 'some' } } });
    sent.push(event);
    // Some events are sent again, possibly to a different partition, as by an SDK that retries.
    return random() < 0.05 ? (sent[Math.floor(random() * sent.length)] ?? event) : event;
  };
  const topic = randomUUID();
  const partitions = Array.from({ length: members }, () =>
    Array.from({ length: batchesPerMember }, () => Array.from({ length: eventsPerBatch }, makeEvent)),
  );
  const handled = new Set(partitions.flat(2).map(({ uuid }) => uuid));
  const processes = Array.from({ length: members / perProcess }, () => fixture.createDeps());
  const fixtures = await Promise.all(
    partitions.map(async (batches, partition) => {
      const member = createHandlerFixture(fixture, processes[partition % processes.length] ?? fixture.createDeps());
      let offset = 0;
      for (const contents of batches) {
        const result = await member.handle(logBatch(topic, offset, contents, partition));
        expect(result).toMatchObject({ outcome: 'done', nextOffset: BigInt(offset + contents.length) });
        offset += contents.length;
      }
      return member;
    }),
  );
  return { sent: sent.filter(({ uuid }) => handled.has(uuid)), fixtures };
}

async function count(fixtures: HandlerFixture[], name: string, label?: string): Promise<number> {
  const counts = await Promise.all(fixtures.map((member) => member.counted(name, label)));
  return counts.reduce((sum, one) => sum + one, 0);
}

/** The total number of conflicts in the following cases. On some machines, a single case has no conflicts. */
let collisions = 0;

test.each([
  [1, 8, 1],
  [2, 30, 1],
  [3, 200, 1],
  [4, 8, 4],
  [5, 30, 4],
  [6, 200, 4],
  [7, 8, 2],
  [8, 30, 2],
])(
  'consumers that process events of the same persons leave consistent data (seed %d, %d people, %d per process)',
  async (seed, people, perProcess) => {
    const project = await fixture.createProject();
    const { sent, fixtures } = await collide(project, seed, people, perProcess);
    const projectId = project.id;
    const { sql, prisma } = fixture.database;

    const rows = await prisma.event.findMany({ where: { project_id: projectId }, select: { uuid: true } });
    expect(rows.map(({ uuid }) => uuid).sort()).toEqual(sent.map(({ uuid }) => uuid).sort());
    expect(fixture.deadLetters).toEqual([]);
    // Deadlocks are not included, because they count as transient.
    collisions += await count(fixtures, 'retries_total', 'moved');
    expect(await count(fixtures, 'retries_total', 'transient')).toBe(0);
    expect(await count(fixtures, 'batches_total', 'stale')).toBe(0);

    expect(
      await sql.query(
        `SELECT d.distinct_id FROM person_distinct_id d
         LEFT JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
        WHERE d.project_id = $1 AND p.uuid IS NULL`,
        [projectId],
      ),
    ).toEqual([]);
    expect(
      await sql.query(
        `SELECT p.uuid FROM person p
        WHERE p.project_id = $1 AND NOT EXISTS (
              SELECT 1 FROM person_distinct_id d
               WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid AND d.distinct_id = p.main_distinct_id)`,
        [projectId],
      ),
    ).toEqual([]);

    // No update is lost, whatever was merged: each property that an event set is on the current person of the event's
    // ID.
    const owners = await sql.query<{ distinct_id: string; properties: Record<string, unknown> }>(
      `SELECT d.distinct_id, p.properties FROM person_distinct_id d
       JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid WHERE d.project_id = $1`,
      [projectId],
    );
    const propertiesOf = new Map(owners.map((row) => [row.distinct_id, row.properties]));
    const lostUpdates = sent.filter(({ distinct_id, properties }) => {
      const keys = Object.keys((properties.$set as Record<string, unknown> | undefined) ?? {});
      return keys.some((key) => propertiesOf.get(distinct_id)?.[key] !== true);
    });
    expect(lostUpdates.map(({ event, distinct_id }) => `${event} of ${distinct_id}`)).toEqual([]);

    const groups = await prisma.group.findMany({ where: { project_id: projectId } });
    const groupIdentifies = sent.filter(({ event }) => event === '$groupidentify');
    const keysSet = groups.flatMap(({ group_properties }) => Object.keys(group_properties as object));
    expect(keysSet).toHaveLength(groupIdentifies.length);
    expect(groups.reduce((sum, { version }) => sum + Number(version), 0)).toBe(groupIdentifies.length);
  },
);

test('the preceding cases caused conflicts between batches', () => {
  expect(collisions).toBeGreaterThan(0);
});
