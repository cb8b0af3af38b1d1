import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { CapturedEvent, CapturedRecord } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import type { LogBatch } from '@millrace/event-log';
import { type ProcessBatchDeps, processBatch } from './process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
  testLog,
} from './testing/consumer-fixture.ts';
import { tableChecksums } from './testing/table-checksums.ts';
import { watchedDatabase } from './testing/watched-database.ts';

let fixture: ConsumerFixture;
let deps: ProcessBatchDeps;
let project: TestProject;
let topic: string;

beforeAll(async () => {
  fixture = await createConsumerFixture();
  deps = fixture.createDeps();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = randomUUID();
});

const group = 'g';
const run = (batch: LogBatch, withDeps = deps) =>
  processBatch({ batch, group, deadLetterReason: null, lockFirst: false }, withDeps);
const event = (overrides: Partial<CapturedEvent>) => capturedEvent(project.token, overrides);
const checksums = () => tableChecksums(fixture.database.sql);

function variedEvents(size = 12): CapturedEvent[] {
  return Array.from({ length: size }, (_, index) => {
    const distinct_id = `visitor-${index % 7}`;
    switch (index % 6) {
      case 0:
        return event({ distinct_id, event: '$pageview', properties: { $current_url: `https://x.example/${index}` } });
      case 1:
        return event({ distinct_id, properties: { $set: { [`key_${index}`]: index } } });
      case 2: {
        const properties = { $anon_distinct_id: distinct_id, $set: { plan: 'pro' } };
        return event({ distinct_id: `user-${index % 3}`, event: '$identify', properties });
      }
      case 3: {
        const properties = { $group_type: 'company', $group_key: `c${index % 2}`, $group_set: { seats: index } };
        return event({ distinct_id, event: '$groupidentify', properties });
      }
      case 4:
        return event({ distinct_id, event: '$create_alias', properties: { alias: `alias-${index}` } });
      default:
        return event({
          distinct_id,
          properties: { $groups: { [`type-${index % 2}`]: 'k' }, $process_person_profile: 'odd' },
        });
    }
  });
}

function eventRows() {
  return fixture.database.prisma.event.findMany({ where: { project_id: project.id } });
}

async function storedOffset(partition = 0) {
  const row = await fixture.database.prisma.consumer_offset.findUnique({
    where: { topic_partition_group_log: { topic, partition, group, log: testLog } },
  });
  return row?.next_offset ?? null;
}

describe('processing one batch', () => {
  test('stores rows, persons, groups and warnings, and advances the offset past the last record of the batch', async () => {
    const report = await run(logBatch(topic, 0, variedEvents()));
    expect(report).toMatchObject({ outcome: 'done', nextOffset: 12n, stored: 12, duplicates: 0, dropped: [] });
    expect(await eventRows()).toHaveLength(12);
    expect(await storedOffset()).toBe(12n);
    const where = { project_id: project.id };
    expect(await fixture.database.prisma.group.count({ where })).toBeGreaterThan(0);
    expect(await fixture.database.prisma.ingestion_warning.count({ where })).toBeGreaterThan(0);
    expect(await fixture.database.prisma.environment.findUniqueOrThrow({ where: { id: project.id } })).toMatchObject({
      ingested_event: true,
    });
  });

  test('creates the same persons, IDs and groups from the same events, whatever the batch size', async () => {
    const other = await fixture.createProject();
    const events = variedEvents(60);
    await run(logBatch(topic, 0, events));
    const otherTopic = randomUUID();
    let offset = 0;
    for (const size of [1, 2, 3, 20, 1, 13, 20]) {
      const slice = events.slice(offset, offset + size).map((one) => ({ ...one, token: other.token }));
      await run(logBatch(otherTopic, offset, slice));
      offset += size;
    }
    const outcome = async (projectId: number) => ({
      persons: await fixture.database.sql.query(
        `SELECT p.main_distinct_id, p.properties - '$creator_event_uuid' AS properties, p.is_identified, p.version, p.created_at,
                (SELECT array_agg(d.distinct_id || ':' || d.version ORDER BY d.id) FROM person_distinct_id d
                  WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid) AS ids
           FROM person p WHERE p.project_id = $1 ORDER BY p.main_distinct_id`,
        [projectId],
      ),
      groups: await fixture.database.sql.query(
        'SELECT group_type_index, group_key, group_properties, version FROM "group" WHERE project_id = $1 ORDER BY 1, 2',
        [projectId],
      ),
      events: await fixture.database.sql.query(
        `SELECT uuid, event, distinct_id, properties, person_properties - '$creator_event_uuid' AS person_properties, person_mode
           FROM event WHERE project_id = $1 ORDER BY uuid`,
        [projectId],
      ),
    });
    expect(await outcome(other.id)).toEqual(await outcome(project.id));
  });

  test('drops an event with an unknown token and stores a gateway warning', async () => {
    const warning: CapturedRecord = {
      kind: 'warning',
      uuid: randomUUID(),
      token: project.token,
      type: 'missing_event_name',
      count: 3,
      now: new Date().toISOString(),
      details: {},
    };
    const report = await run(logBatch(topic, 0, [capturedEvent('phc_nobody', {}), warning, event({})]));
    expect(report).toMatchObject({ outcome: 'done', stored: 1, dropped: ['invalid_token'], nextOffset: 3n });
    const where = { project_id: project.id, type: 'missing_event_name' };
    expect(await fixture.database.prisma.ingestion_warning.findMany({ where })).toMatchObject([
      { id: warning.uuid, count: 3 },
    ]);
  });

  test('counts and reports an event that the rules drop, and stores the other events', async () => {
    const tooLong = 'k'.repeat(401);
    const bad = event({ event: '$groupidentify', properties: { $group_type: 'company', $group_key: tooLong } });
    const report = await run(logBatch(topic, 0, [event({}), bad, event({ distinct_id: 'd'.repeat(401) }), event({})]));
    expect(report).toMatchObject({ outcome: 'done', stored: 2 });
    expect(report).toHaveProperty('dropped', ['distinct_id_too_long', 'group_key_too_long']);
    const warnings = await fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: project.id } });
    expect(warnings.map(({ type }) => type).sort()).toEqual([
      'group_key_too_long',
      'skipping_event_invalid_distinct_id',
    ]);
  });
});

describe('storing events exactly once', () => {
  test('reports a redelivered batch as stale without changing anything', async () => {
    const batch = logBatch(topic, 0, variedEvents());
    await run(batch);
    const before = await checksums();
    expect(await run(batch)).toEqual({ outcome: 'stale', nextOffset: 12n });
    expect(await checksums()).toEqual(before);
  });

  test('treats a batch as stale if it continues from an older or newer offset than the stored one', async () => {
    const events = variedEvents();
    await run(logBatch(topic, 0, events.slice(0, 6)));
    expect(await run(logBatch(topic, 4, events.slice(4)))).toEqual({ outcome: 'stale', nextOffset: 6n });
    expect(await run(logBatch(topic, 8, events.slice(8)))).toEqual({ outcome: 'stale', nextOffset: 6n });
    expect(await run(logBatch(topic, 6, events.slice(6)))).toMatchObject({ outcome: 'done', nextOffset: 12n });
    expect(await eventRows()).toHaveLength(12);
  });

  test('processes a batch whose first records were deleted by retention', async () => {
    const batch = { ...logBatch(topic, 5, [event({})]), continuesFrom: null };
    expect(await run(batch)).toMatchObject({ outcome: 'done', nextOffset: 6n });
  });

  test('stores a batch only once if several consumers process it', async () => {
    await run(logBatch(topic, 0, [event({ distinct_id: 'before' })]));
    const batch = logBatch(topic, 1, variedEvents());
    const outcomes = await Promise.all(
      [run(batch), run(batch), run(batch)].map((one) => one.then(({ outcome }) => outcome)),
    );
    expect(outcomes.sort()).toEqual(['done', 'stale', 'stale']);
    expect(await eventRows()).toHaveLength(13);
  });

  test('replaying a whole topic from offset 0 changes nothing, including versions and warnings', async () => {
    const events = variedEvents(60);
    for (let offset = 0; offset < 60; offset += 20)
      await run(logBatch(topic, offset, events.slice(offset, offset + 20)));
    const before = await checksums();
    await fixture.database.sql.query('DELETE FROM consumer_offset WHERE topic = $1', [topic]);
    for (let offset = 0; offset < 60; offset += 30) {
      const report = await run(logBatch(topic, offset, events.slice(offset, offset + 30)));
      expect(report).toMatchObject({ outcome: 'done', stored: 0, duplicates: 30 });
    }
    expect(await checksums()).toEqual(before);
    expect(await storedOffset()).toBe(60n);
  });

  test('ignores an event with a repeated UUID, even if its time and properties differ', async () => {
    const first = event({ properties: { $set: { a: 1 } } });
    const again = { ...first, timestamp: '2019-01-01T00:00:00.000Z', properties: { $set: { a: 2 } } };
    const report = await run(logBatch(topic, 0, [first, again]));
    expect(report).toMatchObject({ stored: 1, duplicates: 1 });
    const before = await checksums();
    expect(await run(logBatch(topic, 2, [again]))).toMatchObject({ duplicates: 1 });
    expect(await checksums()).toEqual(before);
  });

  test('stores AI events of 8 MiB completely, together with smaller events', async () => {
    const text = 'x'.repeat(8 * 1024 * 1024);
    const large = () => event({ event: '$ai_generation', properties: { $ai_input: text } });
    expect(await run(logBatch(topic, 0, [event({}), large(), large()]))).toMatchObject({ stored: 3 });
    const rows = await fixture.database.sql.query<{ length: number }>(
      `SELECT length(properties ->> '$ai_input') AS length FROM event WHERE project_id = $1 AND event = '$ai_generation'`,
      [project.id],
    );
    expect(rows).toEqual([{ length: text.length }, { length: text.length }]);
  });

  test('warns with both event names when an event has the UUID of a different stored event', async () => {
    const first = event({ event: 'signed up', distinct_id: 'a' });
    const [sameBatch, later] = [
      { ...first, event: 'paid' },
      { ...first, distinct_id: 'b' },
    ];
    expect(await run(logBatch(topic, 0, [first, sameBatch, first]))).toMatchObject({ stored: 1, duplicates: 2 });
    expect(await run(logBatch(topic, 3, [later, first]))).toMatchObject({ stored: 0, duplicates: 2 });
    expect(await eventRows()).toMatchObject([{ event: 'signed up', distinct_id: 'a' }]);
    const warnings = await fixture.database.prisma.ingestion_warning.findMany({
      where: { project_id: project.id, type: 'duplicate_event_uuid' },
      orderBy: { timestamp: 'asc' },
    });
    const stored = { eventUuid: first.uuid, storedEvent: 'signed up', storedDistinctId: 'a' };
    expect(warnings.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        { ...stored, event: 'paid', distinctId: 'a' },
        { ...stored, event: 'signed up', distinctId: 'b' },
      ]),
    );
    expect(warnings).toHaveLength(2);
  });

  test('treats events with the same UUID in two projects as different events', async () => {
    const other = await fixture.createProject();
    const mine = event({});
    const report = await run(logBatch(topic, 0, [mine, { ...mine, token: other.token }]));
    expect(report).toMatchObject({ stored: 2, duplicates: 0 });
  });

  test('changes nothing if a statement of the transaction fails, and stores everything when retried', async () => {
    const batch = logBatch(topic, 0, variedEvents());
    // First create everything that is cached outside of the transaction.
    await deps.partitions.ensure([Date.now(), Date.now() + 600_000]);
    const before = await checksums();
    let statements = 1;
    for (let failAt = 1; failAt <= statements; failAt++) {
      statements = 0;
      const database = watchedDatabase(fixture.database, () => {
        statements += 1;
        if (statements === failAt) throw new Error('killed here');
      });
      const killed = run(batch, fixture.createDeps({ database, partitions: deps.partitions }));
      await killed.catch(() => {});
      if (statements < failAt) break;
      await expect(killed).rejects.toThrow('killed here');
      expect(await checksums()).toEqual(before);
      expect(await storedOffset()).toBeNull();
      statements = failAt + 1;
    }
    expect(await storedOffset()).toBe(12n);
    expect(await eventRows()).toHaveLength(12);
  });

  test('marks an environment as having events again after the first attempt was rolled back', async () => {
    const failing = fixture.createDeps({
      database: watchedDatabase(fixture.database, (text) => {
        if (text.startsWith('UPDATE consumer_offset')) throw new Error('killed here');
      }),
    });
    const batch = logBatch(topic, 0, [event({})]);
    await expect(run(batch, failing)).rejects.toThrow('killed here');
    await run(batch, { ...failing, database: fixture.database });
    expect(await fixture.database.prisma.environment.findUniqueOrThrow({ where: { id: project.id } })).toMatchObject({
      ingested_event: true,
    });
  });
});

describe('conflicts between batches', () => {
  // When it sends one of these statements, the batch has read everything that it needs to decide, but has not locked
  // the rows.
  const beforePersons = /INSERT INTO person|lockVersions|FOR NO KEY UPDATE OF p/;
  test.each<[string, Partial<CapturedEvent>, RegExp?]>([
    ['creates the person', { distinct_id: 'raced', properties: { $set: { other: 1 } } }],
    ['changes the person', { distinct_id: 'known', properties: { $set: { other: 1 } } }],
    [
      'merges the person away',
      { distinct_id: 'survivor', event: '$identify', properties: { $anon_distinct_id: 'known' } },
    ],
    ['adds the group type', { properties: { $groups: { company: 'x' } } }],
    [
      'adds the group',
      {
        distinct_id: 'survivor',
        event: '$groupidentify',
        properties: { $group_type: 'team', $group_key: 'g', $group_set: { o: 1 } },
      },
      /INSERT INTO "group"/,
    ],
  ])('starts over when another batch %s, so that both batches take effect', async (...[, theirs, moment]) => {
    await run(
      logBatch(topic, 0, [
        event({ distinct_id: 'known' }),
        event({ distinct_id: 'survivor' }),
        event({ properties: { $groups: { team: 'x' } } }),
      ]),
    );
    let isRaced = false;
    const racing = fixture.createDeps({
      database: watchedDatabase(fixture.database, async (text) => {
        if (isRaced || !(moment ?? beforePersons).test(text)) return;
        isRaced = true;
        await run(logBatch(`${topic}-other`, 0, [event(theirs)]));
      }),
    });
    const ours = logBatch(topic, 3, [
      event({ distinct_id: 'raced', properties: { $set: { ours: 1 } } }),
      event({ distinct_id: 'known', properties: { $set: { ours: 1 } } }),
      event({ properties: { $groups: { company: 'y' } } }),
      event({ event: '$groupidentify', properties: { $group_type: 'team', $group_key: 'g', $group_set: { ours: 1 } } }),
    ]);
    const work = { batch: ours, group, deadLetterReason: null };
    await expect(processBatch({ ...work, lockFirst: false }, racing)).rejects.toMatchObject({ name: 'LedgerConflict' });
    expect(isRaced).toBe(true);
    expect(await processBatch({ ...work, lockFirst: true }, racing)).toMatchObject({ outcome: 'done', stored: 4 });
    const persons = await fixture.database.sql.query<{ distinct_id: string; properties: Record<string, unknown> }>(
      `SELECT d.distinct_id, p.properties FROM person_distinct_id d
         JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid WHERE d.project_id = $1`,
      [project.id],
    );
    const propertiesOf = (id: string) => persons.find(({ distinct_id }) => distinct_id === id)?.properties;
    expect(propertiesOf('raced')).toMatchObject({ ours: 1 });
    expect(propertiesOf('known')).toMatchObject({ ours: 1 });
    if (theirs.properties && '$set' in theirs.properties)
      expect(propertiesOf(theirs.distinct_id ?? '')).toMatchObject({ other: 1 });
    const [teamGroup] = await fixture.database.sql.query('SELECT group_properties FROM "group" WHERE project_id = $1', [
      project.id,
    ]);
    expect(teamGroup).toMatchObject({
      group_properties: theirs.event === '$groupidentify' ? { ours: 1, o: 1 } : { ours: 1 },
    });
    const indexes = await fixture.database.sql.query(
      'SELECT group_type, group_type_index FROM group_type_mapping WHERE project_id = $1 ORDER BY 2',
      [project.id],
    );
    expect(indexes).toEqual([
      { group_type: 'team', group_type_index: 0 },
      { group_type: 'company', group_type_index: 1 },
    ]);
  });
});

const onOneLine = (text: string) => text.replace(/\s+/g, ' ');

describe('SQL statements of a batch', () => {
  test('the number of statements does not depend on the size of the batch', async () => {
    const seeds = Array.from({ length: 100 }, (_, i) => i).flatMap((i) => [
      event({ distinct_id: `changed-${i}` }),
      event({ distinct_id: `source-${i}` }),
      event({ distinct_id: `target-${i}` }),
      event({
        event: '$groupidentify',
        properties: { $group_type: 'team', $group_key: `g-${i}`, $group_set: { a: 1 } },
      }),
    ]);
    await run(logBatch(topic, 0, seeds));
    const everyKindOfChange = (i: number) => [
      event({ distinct_id: `new-${i}`, properties: { $process_person_profile: 'odd' } }),
      event({ distinct_id: `changed-${i}`, properties: { $set: { b: 1 } } }),
      event({ distinct_id: `target-${i}`, event: '$identify', properties: { $anon_distinct_id: `source-${i}` } }),
      event({
        event: '$groupidentify',
        properties: { $group_type: 'team', $group_key: `g-${i}`, $group_set: { b: 1 } },
      }),
      event({
        event: '$groupidentify',
        properties: { $group_type: 'team', $group_key: `n-${i}`, $group_set: { b: 1 } },
      }),
    ];
    let statements = 0;
    const texts = new Set<string>();
    const notLookedUp: string[] = [];
    const counting = fixture.createDeps({
      partitions: deps.partitions,
      projects: deps.projects,
      database: watchedDatabase(fixture.database, async (text, tx) => {
        statements += 1;
        texts.add(onOneLine(text));
        if (!text.includes('COPY ')) notLookedUp.push(...(await scansWithoutIndex(text, tx)));
      }),
    });
    const costs: number[] = [];
    let offset = seeds.length;
    for (const [from, to] of [
      [0, 2],
      [2, 98],
    ]) {
      const contents = Array.from({ length: 100 }, (_, i) => i)
        .slice(from, to)
        .flatMap(everyKindOfChange);
      statements = 0;
      expect(await run(logBatch(topic, offset, contents), counting)).toMatchObject({ stored: contents.length });
      costs.push(statements);
      offset += contents.length;
    }
    expect(costs).toEqual([21, 21]);
    // Small tables, which any planner scans, are excluded. All other tables must be looked up by an index.
    expect(notLookedUp).toEqual([]);
    const written = onOneLine(await readFile(new URL('../../../docs/ingestion-sql.md', import.meta.url), 'utf8'));
    expect([...texts].filter((text) => !written.includes(`${text};`))).toEqual([]);
  });

  test('sends seven statements for a batch of plain events of known persons', async () => {
    await run(logBatch(topic, 0, [event({}), event({})]));
    const statements: string[] = [];
    const counting = fixture.createDeps({
      partitions: deps.partitions,
      projects: deps.projects,
      database: watchedDatabase(fixture.database, (text) => void statements.push(text)),
    });
    await run(logBatch(topic, 2, [event({}), event({}), event({})]), counting);
    expect(statements).toHaveLength(7);
  });
});

describe('storing properties as they were written', () => {
  const recordWith = (propertiesText: string, fields: Partial<CapturedEvent> = {}) => {
    const { properties: _, ...head } = event({ ip: null, ...fields });
    return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"properties":${propertiesText}}`);
  };

  test.each<[string, string, string, Partial<CapturedEvent>?]>([
    [
      'keeps a number beyond the precision of JavaScript',
      '{"id":12345678901234567890,"x":1.50}',
      '{"x": 1.50, "id": 12345678901234567890}',
    ],
    [
      'keeps such a number when a property is added',
      '{"id":12345678901234567890}',
      '{"id": 12345678901234567890, "$ip": "203.0.113.7"}',
      { ip: '203.0.113.7' },
    ],
    [
      'does not replace a property that the client sent',
      '{"$ip":"192.0.2.1"}',
      '{"$ip": "192.0.2.1"}',
      { ip: '203.0.113.7' },
    ],
    [
      'stores a replaced value once',
      '{"a":1,"$set":{"b":1}}',
      '{"a": 1, "$set": {"b": 1, "c": 2}}',
      { $set: { c: 2 } },
    ],
    ['does not store a removed property', '{"id":1,"$elements":[],"$verified":true}', '{"id": 1}'],
    ['stores the later of two members with the same name', '{"a":1,"a":2}', '{"a": 2}'],
    ['ignores spaces', ' { "a" : 1 } ', '{"a": 1}'],
    ['stores an empty object', '{ }', '{}'],
    ['adds a property to an empty object', '{}', '{"$ip": "203.0.113.7"}', { ip: '203.0.113.7' }],
    ['stores a number that is too large for JavaScript as null', '{"a":1e400,"b":-1E+999 }', '{"a": null, "b": null}'],
    ['stores a number that is too small for PostgreSQL as 0', '{"a":[1e-20000],"b":1}', '{"a": [0], "b": 1}'],
    ['stores a number of 400 digits like JavaScript reads it', `{"a":${'9'.repeat(400)}}`, '{"a": null}'],
    ['replaces NUL by U+FFFD', '{"a\\u0000":"\\u0000"}', '{"a\ufffd": "\ufffd"}'],
    ['stores a key with the name of an inherited property', '{"__proto__":{"a":1}}', '{"__proto__": {"a": 1}}'],
    [
      'does not confuse a nested member called properties with the properties',
      '{"a":1}',
      '{"a": 1, "$set": {"c": 1, "properties": {"b": 1}}}',
      { $set: { c: 1, properties: { b: 1 } } },
    ],
  ])('%s', async (...[, text, stored, fields]) => {
    expect(await run(logBatch(topic, 0, [recordWith(text, fields)]))).toMatchObject({ stored: 1 });
    const [row] = await fixture.database.sql.query<{ text: string }>(
      'SELECT properties::text AS text FROM event WHERE project_id = $1',
      [project.id],
    );
    expect(row?.text).toBe(stored);
  });

  test("stores valid records' properties as written, even if another record becomes a dead letter", async () => {
    const uuids = [randomUUID(), randomUUID(), randomUUID()] as const;
    const [first, broken, last] = uuids;
    const records = [
      recordWith('{"id":12345678901234567890}', { uuid: first, event: '$identify' }),
      recordWith('[1]', { uuid: broken }),
      recordWith('{"a":1},"$set":{"b":2}', { uuid: last }),
    ];
    expect(await run(logBatch(topic, 0, records))).toMatchObject({
      outcome: 'done',
      stored: 2,
      deadLettered: ['failed_parse_message'],
      nextOffset: 3n,
    });
    const rows = await fixture.database.sql.query<{ uuid: string; text: string }>(
      'SELECT uuid, properties::text AS text FROM event WHERE project_id = $1',
      [project.id],
    );
    expect(new Map(rows.map(({ uuid, text }) => [uuid, text]))).toEqual(
      new Map([
        [first, '{"id": 12345678901234567890}'],
        [last, '{"a": 1, "$set": {"b": 2}}'],
      ]),
    );
  });
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

async function scansWithoutIndex(text: string, tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
  const roots = rows.flatMap((row) => row['QUERY PLAN']).map(({ Plan }) => Plan);
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  return (
    roots
      .flatMap(nodes)
      // In a plan with a bitmap scan, the index condition is on the child node.
      .filter((node) => /(?<!Bitmap Heap )Scan$/.test(node['Node Type']))
      .filter((node) => node['Relation Name'] && !node['Index Cond'])
      .map((node) => `${node['Node Type']} of ${node['Relation Name']}: ${text}`)
  );
}

describe('dead letters of a batch', () => {
  test('writes invalid records as dead letters with a reason before the offset advances', async () => {
    const garbage = { ...logBatch(topic, 1, [Buffer.from('{"kind":"event",')]).records[0], key: `${project.token}:x` };
    const batch = logBatch(topic, 0, [event({}), event({}), event({})]);
    batch.records[1] = { ...garbage, headers: { origin: 'kept' } } as (typeof batch.records)[number];
    fixture.deadLetters.length = 0;
    const report = await run(batch);
    expect(report).toMatchObject({
      outcome: 'done',
      stored: 2,
      deadLettered: ['failed_parse_message'],
      nextOffset: 3n,
    });
    expect(fixture.deadLetters).toEqual([
      {
        topic: 'dead-letter',
        key: `${project.token}:x`,
        value: Buffer.from('{"kind":"event",'),
        headers: {
          origin: 'kept',
          dlq_reason: 'failed_parse_message',
          dlq_step: 'parse_record',
          dlq_timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          dlq_topic: topic,
          dlq_partition: '0',
          dlq_offset: '1',
          dlq_log: testLog,
        },
      },
    ]);
    const warnings = await fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: project.id } });
    expect(warnings).toMatchObject([
      {
        type: 'event_dead_lettered',
        severity: 'error',
        details: { reason: 'failed_parse_message', topic, offset: '1' },
      },
    ]);
  });

  test('dead-letters an event whose time is a year in the future, but stores an event that is dated tomorrow', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const report = await run(logBatch(topic, 0, [event({ timestamp: inDays(365) }), event({ timestamp: inDays(1) })]));
    expect(report).toMatchObject({ stored: 1, deadLettered: ['timestamp_out_of_range'] });
  });

  test('writes all records of a batch with a dead-letter reason as dead letters, and stores their events on replay', async () => {
    const events = [event({}), event({})];
    const batch = logBatch(topic, 0, events);
    const report = await processBatch({ batch, group, deadLetterReason: 'processing_error', lockFirst: false }, deps);
    expect(report).toMatchObject({ stored: 0, deadLettered: ['processing_error', 'processing_error'], nextOffset: 2n });
    expect(await eventRows()).toHaveLength(0);
    expect(await run(logBatch(topic, 2, events))).toMatchObject({ stored: 2, duplicates: 0 });
  });

  test('does not advance the offset if a dead letter cannot be written', async () => {
    const refusing = fixture.createDeps({
      deadLetters: {
        append: async () => {
          throw new Error('no broker');
        },
      },
    });
    const batch = logBatch(topic, 0, [event({}), Buffer.from('garbage')]);
    await expect(run(batch, refusing)).rejects.toThrow('no broker');
    expect(await storedOffset()).toBeNull();
    expect(await eventRows()).toHaveLength(0);
  });

  test('does not write dead letters for a stale batch', async () => {
    const batch = logBatch(topic, 0, [Buffer.from('garbage')]);
    await run(batch);
    fixture.deadLetters.length = 0;
    expect(await run(batch, fixture.createDeps())).toMatchObject({ outcome: 'stale' });
    expect(fixture.deadLetters).toEqual([]);
  });
});
