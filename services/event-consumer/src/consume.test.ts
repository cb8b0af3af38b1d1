import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { BatchTooLarge, LedgerConflict } from './failures.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from './testing/consumer-fixture.ts';
import { createHandlerFixture } from './testing/handler-fixture.ts';
import { watchedDatabase } from './testing/watched-database.ts';

let fixture: ConsumerFixture;
let project: TestProject;
let topic: string;

beforeAll(async () => {
  fixture = await createConsumerFixture();
  // Only the database rejects this event name. All earlier steps accept it.
  await fixture.database.sql.query(`ALTER TABLE event ADD CONSTRAINT no_poison CHECK (event <> 'poison')`);
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = randomUUID();
  fixture.deadLetters.length = 0;
});

const event = (overrides: Partial<CapturedEvent> = {}) => capturedEvent(project.token, overrides);

async function storedUuids(): Promise<string[]> {
  const rows = await fixture.database.prisma.event.findMany({
    where: { project_id: project.id },
    select: { uuid: true },
  });
  return rows.map(({ uuid }) => uuid);
}

async function storedOffset(): Promise<bigint | undefined> {
  const rows = await fixture.database.prisma.consumer_offset.findMany({ where: { topic } });
  return rows[0]?.next_offset;
}

const deadOffsets = () => fixture.deadLetters.map(({ headers }) => Number(headers?.dlq_offset));

describe('batches with invalid records', () => {
  test.each([[[0]], [[9]], [[4, 5]], [[0, 3, 7, 9]], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]])(
    'of ten records, moves exactly those that the database rejects to the dead letters: %j',
    async (poisoned) => {
      const events = Array.from({ length: 10 }, (_, i) => event(poisoned.includes(i) ? { event: 'poison' } : {}));
      const { handle, counted } = createHandlerFixture(fixture, fixture.createDeps());
      expect(await handle(logBatch(topic, 0, events))).toMatchObject({ outcome: 'done', nextOffset: 10n });
      const good = events.filter(({ event: name }) => name !== 'poison').map(({ uuid }) => uuid);
      expect((await storedUuids()).sort()).toEqual(good.sort());
      expect(deadOffsets()).toEqual(poisoned);
      expect(fixture.deadLetters.every(({ headers }) => headers?.dlq_reason === 'refused_by_database')).toBe(true);
      expect(await storedOffset()).toBe(10n);
      expect(await counted('dead_letters_total', 'refused_by_database')).toBe(poisoned.length);
      expect(await counted('events_stored_total')).toBe(good.length);
      const warnings = await fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: project.id } });
      expect(warnings.map(({ details }) => (details as { eventUuid: string }).eventUuid).sort()).toEqual(
        poisoned.map((i) => events[i]?.uuid).sort(),
      );
    },
  );

  test('moves a record with a number too large for its column to the dead letters', async () => {
    const warning = {
      kind: 'warning' as const,
      uuid: randomUUID(),
      token: project.token,
      type: 'missing_event_name' as const,
      count: 3_000_000_000,
      now: new Date().toISOString(),
      details: {},
    };
    const { handle } = createHandlerFixture(fixture, fixture.createDeps());
    expect(await handle(logBatch(topic, 0, [event(), warning, event()]))).toMatchObject({ nextOffset: 3n });
    expect(await storedUuids()).toHaveLength(2);
    expect(deadOffsets()).toEqual([1]);
  });

  test('moves only the invalid records of a batch to the dead letters', async () => {
    const { handle, counted } = createHandlerFixture(fixture, fixture.createDeps());
    const good = event();
    const contents = [
      Buffer.from(''),
      Buffer.from('{'),
      Buffer.from('null'),
      Buffer.from([0xff, 0xfe, 0x00]),
      good,
      Buffer.from(JSON.stringify({ ...event(), uuid: 'not-a-uuid' })),
      Buffer.from(JSON.stringify({ ...event(), distinct_id: { toString: 1 } })),
      Buffer.from(`{"kind":"event","uuid":"${randomUUID()}","properties":${'['.repeat(50_000)}`),
      Buffer.from(`{"a":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`),
      event(),
    ];
    expect(await handle(logBatch(topic, 0, contents))).toMatchObject({ outcome: 'done', nextOffset: 10n });
    expect(deadOffsets()).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
    expect(await storedUuids()).toHaveLength(2);
    expect(await counted('dead_letters_total')).toBe(8);
  });

  test('moves only the event whose properties are invalid to the dead letters', async () => {
    const { handle, counted } = createHandlerFixture(fixture, fixture.createDeps());
    const { properties: _, ...head } = event();
    const list = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"properties":[1]}`);
    expect(await handle(logBatch(topic, 0, [event(), list, event()]))).toMatchObject({ nextOffset: 3n });
    expect(await counted('retries_total')).toBe(0);
    expect(deadOffsets()).toEqual([1]);
    expect(await storedUuids()).toHaveLength(2);
  });

  test('stores an event that contains NUL and a lone surrogate, with both replaced', async () => {
    const withUnstorableText = event({
      properties: { 'k\u0000': 'a\u0000b', half: '\ud83e' },
      distinct_id: 'x\u0000y',
    });
    const { handle } = createHandlerFixture(fixture, fixture.createDeps());
    await handle(logBatch(topic, 0, [withUnstorableText]));
    const [row] = await fixture.database.prisma.event.findMany({ where: { project_id: project.id } });
    expect(row).toMatchObject({ distinct_id: 'x\ufffdy', properties: { 'k\ufffd': 'a\ufffdb', half: '\ufffd' } });
  });

  test('an error in the rules affects only the record that causes it', async () => {
    const events = Array.from({ length: 7 }, () => event());
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), (work, run) => {
      if (work.deadLetterReason === null && work.batch.records.some(({ offset }) => offset === 3n))
        throw new TypeError('bug');
      return run(work);
    });
    expect(await handle(logBatch(topic, 0, events))).toMatchObject({ nextOffset: 7n });
    expect(deadOffsets()).toEqual([3]);
    expect(fixture.deadLetters[0]?.headers).toMatchObject({
      dlq_reason: 'processing_error',
      dlq_step: 'process_batch',
    });
    expect(await storedUuids()).toHaveLength(6);
  });

  test('continues with the partition although stored data is inconsistent', async () => {
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), (work, run) => {
      const isTorn = work.deadLetterReason === null && work.batch.records.some(({ offset }) => offset === 2n);
      if (isTorn) throw new LedgerConflict('a row that never settles');
      return run(work);
    });
    await handle(logBatch(topic, 0, [event()]));
    const result = await handle(logBatch(topic, 1, [event(), event({ distinct_id: 'torn' }), event()]));
    expect(result).toMatchObject({ outcome: 'done', nextOffset: 4n });
    expect(deadOffsets()).toEqual([2]);
    expect(fixture.deadLetters[0]?.headers?.dlq_reason).toBe('ledger_conflict');
  });

  test('maps an ID to its person again if its mapping was deleted manually', async () => {
    const { handle } = createHandlerFixture(fixture, fixture.createDeps());
    await handle(logBatch(topic, 0, [event({ distinct_id: 'torn', properties: { $set: { kept: 1 } } })]));
    await fixture.database.sql.query('DELETE FROM person_distinct_id WHERE project_id = $1', [project.id]);
    const result = await handle(logBatch(topic, 1, [event(), event({ distinct_id: 'torn' }), event()]));
    expect(result).toMatchObject({ outcome: 'done', nextOffset: 4n });
    expect(deadOffsets()).toEqual([]);
    const rows = await fixture.database.sql.query(
      `SELECT p.properties->'kept' AS kept FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
        WHERE d.project_id = $1 AND d.distinct_id = 'torn'`,
      [project.id],
    );
    expect(rows).toEqual([{ kept: 1 }]);
  });

  test('stops the partition before an invalid record whose dead letter cannot be written, but stores earlier records', async () => {
    let isBroken = true;
    const { handle } = createHandlerFixture(
      fixture,
      fixture.createDeps({
        deadLetters: {
          append: async () => {
            if (isBroken) throw new AppError('unavailable', 'no broker');
          },
        },
      }),
    );
    const events = [event(), event(), event({ event: 'poison' }), event()];
    const batch = logBatch(topic, 0, events);
    await expect(handle(batch)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await storedOffset()).toBe(2n);
    expect(await storedUuids()).toHaveLength(2);
    isBroken = false;
    expect(await handle(logBatch(topic, 2, events.slice(2)))).toMatchObject({ nextOffset: 4n });
    expect(await storedUuids()).toHaveLength(3);
  });
});

describe('transient database failures', () => {
  test('stores the same data, whichever statement a lost connection interrupts', async () => {
    let statement = 0;
    let killAt = 1;
    let kills = 0;
    const database = watchedDatabase(fixture.database, async (_, tx) => {
      statement += 1;
      if (statement !== killAt) return;
      kills += 1;
      await tx.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {});
    });
    const deps = fixture.createDeps({ database });
    await deps.partitions.ensure([Date.now(), Date.now() + 600_000]);
    const { handle, counted } = createHandlerFixture(fixture, deps);
    const uuids: string[] = [];
    let batches = 0;
    for (killAt = 1; kills === killAt - 1; killAt++) {
      statement = 0;
      const contents = [
        event({ distinct_id: 'steady', properties: { $set: { n: killAt } } }),
        event({ distinct_id: `anonymous-${killAt}` }),
        event({
          distinct_id: 'steady',
          event: '$identify',
          properties: { $anon_distinct_id: `anonymous-${killAt - 1}` },
        }),
        event({
          event: '$groupidentify',
          properties: { $group_type: 't', $group_key: 'g', $group_set: { n: killAt } },
        }),
      ];
      uuids.push(...contents.map(({ uuid }) => uuid));
      const from = batches * 4;
      expect(await handle(logBatch(topic, from, contents))).toMatchObject({
        outcome: 'done',
        nextOffset: BigInt(from + 4),
      });
      batches += 1;
    }
    expect(kills).toBeGreaterThan(10);
    expect(await counted('retries_total', 'transient')).toBe(kills);
    expect((await storedUuids()).sort()).toEqual(uuids.sort());
    const [group] = await fixture.database.prisma.group.findMany({ where: { project_id: project.id } });
    expect(group).toMatchObject({ version: BigInt(batches), group_properties: { n: batches } });
    const persons = await fixture.database.prisma.person.findMany({ where: { project_id: project.id } });
    const steady = persons.find(({ main_distinct_id }) => main_distinct_id === 'steady');
    // The first event created the person, and each of the other events changed the person exactly once.
    expect(steady).toMatchObject({ version: BigInt(2 * batches - 1), properties: { n: batches } });
  });

  test('stores a batch once if the response to its commit was lost', async () => {
    let isLost = false;
    const database: Pick<typeof fixture.database, 'transaction'> = {
      async transaction(work) {
        const result = await fixture.database.transaction(work);
        if (isLost) return result;
        isLost = true;
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      },
    };
    const deps = fixture.createDeps();
    await deps.partitions.ensure([Date.now(), Date.now() + 600_000]);
    const { handle } = createHandlerFixture(fixture, { ...deps, database });
    expect(await handle(logBatch(topic, 0, [event(), event()]))).toEqual({ outcome: 'stale', nextOffset: 2n });
    expect(await storedUuids()).toHaveLength(2);
  });

  test('stores a batch once if a commit response was lost while isolating an invalid record', async () => {
    let commits = 0;
    const database: Pick<typeof fixture.database, 'transaction'> = {
      async transaction(work) {
        const result = await fixture.database.transaction(work);
        commits += 1;
        if (commits !== 1) return result;
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      },
    };
    const deps = fixture.createDeps();
    await deps.partitions.ensure([Date.now(), Date.now() + 600_000]);
    const { handle } = createHandlerFixture(fixture, { ...deps, database });
    const events = [event(), event(), event({ event: 'poison' }), event()];
    expect(await handle(logBatch(topic, 0, events))).toMatchObject({ nextOffset: 4n });
    expect(await storedUuids()).toHaveLength(3);
    expect(deadOffsets()).toEqual([2]);
  });

  test('returns the batch to the log during a long outage, without dead letters or skipped records', async () => {
    let isDown = true;
    const { handle, pauses } = createHandlerFixture(fixture, fixture.createDeps(), (work, run) => {
      if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return run(work);
    });
    const batch = logBatch(topic, 0, [event(), event()]);
    await expect(handle(batch)).rejects.toThrow('ECONNREFUSED');
    expect(pauses.length).toBeGreaterThan(1);
    expect(fixture.deadLetters).toEqual([]);
    isDown = false;
    expect(await handle(batch)).toMatchObject({ outcome: 'done', nextOffset: 2n });
  });

  test.each([
    ['a table is missing', '42P01'],
    ['a permission is missing', '42501'],
    ['the disk is full', '53100'],
    ['the database is read-only', '25006'],
    ['an index is broken', 'XX001'],
  ])('moves no record to the dead letters when %s', async (_, code) => {
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), () => {
      throw Object.assign(new Error('refused'), { code });
    });
    await expect(handle(logBatch(topic, 0, [event()]))).rejects.toMatchObject({ code });
    expect(fixture.deadLetters).toEqual([]);
  });

  test('after a conflict, retries immediately and locks the rows before reading them', async () => {
    const attempts: boolean[] = [];
    const { handle, pauses, counted } = createHandlerFixture(fixture, fixture.createDeps(), (work, run) => {
      attempts.push(work.lockFirst);
      if (attempts.length < 4) throw new LedgerConflict('a person');
      return run(work);
    });
    expect(await handle(logBatch(topic, 0, [event()]))).toMatchObject({ outcome: 'done' });
    expect(attempts).toEqual([false, true, true, true]);
    expect(pauses[0]).toBe(0);
    expect(await counted('retries_total', 'moved')).toBe(3);
  });
});

describe('batches whose statements take too long', () => {
  const slowFor = (offsets: readonly bigint[]) =>
    createHandlerFixture(fixture, fixture.createDeps(), async (work, run) => {
      if (work.deadLetterReason !== null || !work.batch.records.some(({ offset }) => offsets.includes(offset)))
        return run(work);
      return fixture.database.transaction(async (tx) => {
        await tx.query('SET LOCAL statement_timeout = 20');
        await tx.query('SELECT pg_sleep(10)');
        throw new Error('it came to an end');
      });
    });

  test('moves a slow record to the dead letters after several attempts, and continues with the partition', async () => {
    const events = Array.from({ length: 9 }, () => event());
    const { handle, counted } = slowFor([4n]);
    expect(await handle(logBatch(topic, 0, events))).toMatchObject({ outcome: 'done', nextOffset: 9n });
    expect(deadOffsets()).toEqual([4]);
    expect(fixture.deadLetters[0]?.headers?.dlq_reason).toBe('timed_out');
    expect(await storedUuids()).toHaveLength(8);
    expect(await counted('retries_total', 'slow')).toBeGreaterThan(3);
  });

  test('moves no record to the dead letters if statements are slow only temporarily', async () => {
    let slow = 2;
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), async (work, run) => {
      slow -= 1;
      if (slow >= 0) throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
      return run(work);
    });
    expect(await handle(logBatch(topic, 0, [event()]))).toMatchObject({ outcome: 'done', nextOffset: 1n });
    expect(fixture.deadLetters).toEqual([]);
  });

  test('moves no record to the dead letters if every statement takes too long', async () => {
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), async () => {
      throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    });
    await expect(handle(logBatch(topic, 0, [event()]))).rejects.toMatchObject({ code: '57014' });
    expect(fixture.deadLetters).toEqual([]);
  });
});

test('returns a batch to the log immediately after a lock timeout, so that other partitions continue', async () => {
  const { handle, pauses, counted } = createHandlerFixture(fixture, fixture.createDeps(), () => {
    throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  });
  await expect(handle(logBatch(topic, 0, [event(), event()]))).rejects.toMatchObject({ code: '55P03' });
  expect(pauses).toEqual([]);
  expect(await counted('retries_total', 'blocked')).toBe(1);
  expect(fixture.deadLetters).toEqual([]);
});

test('processes a batch that is too large in parts, in order', async () => {
  const sizes: number[] = [];
  const { handle } = createHandlerFixture(fixture, fixture.createDeps(), (work, run) => {
    sizes.push(work.batch.records.length);
    if (work.batch.records.length > 3) throw new BatchTooLarge('for this test', 3);
    return run(work);
  });
  const events = Array.from({ length: 8 }, (_, n) => event({ properties: { $set: { n } } }));
  expect(await handle(logBatch(topic, 0, events))).toMatchObject({ outcome: 'done', nextOffset: 8n });
  expect(sizes).toEqual([8, 3, 3, 2]);
  expect(await storedUuids()).toHaveLength(8);
});

describe('isolating the invalid records of a failed batch', () => {
  test('stops isolating invalid records when another consumer takes over the batch', async () => {
    const events = [event(), event(), event({ event: 'poison' }), event()];
    const batch = logBatch(topic, 0, events);
    let calls = 0;
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), async (work, run) => {
      calls += 1;
      // A second member completes the batch after it has failed as a whole and before its first half starts.
      if (calls === 2) {
        await fixture.database.sql.query('INSERT INTO consumer_offset VALUES ($1, 0, $2, $3, 40)', [
          topic,
          'g',
          batch.log,
        ]);
      }
      return run(work);
    });
    expect(await handle(batch)).toEqual({ outcome: 'stale', nextOffset: 40n });
    expect(await storedUuids()).toEqual([]);
    expect(fixture.deadLetters).toEqual([]);
  });

  test('a stopping consumer finishes the current part of a split batch and starts no other part', async () => {
    const events = [event(), event({ event: 'poison' }), event(), event()];
    const stopping = new AbortController();
    const { handle } = createHandlerFixture(fixture, fixture.createDeps(), async (work, run) => {
      const report = await run(work);
      stopping.abort();
      return report;
    });
    expect(await handle(logBatch(topic, 0, events), stopping.signal)).toMatchObject({
      outcome: 'done',
      nextOffset: 1n,
    });
    expect(await storedOffset()).toBe(1n);
    expect(await storedUuids()).toHaveLength(1);
  });
});
