/** Tests lists of individual events. All engines must return the same lists. */

import { createTestTenant } from '@millrace/testing';
import type { EventListQuery, EventPosition, ListedEvent } from '../src/event-store/queries.ts';
import type { Condition } from '../src/event-store/selection.ts';
import { sql } from '../src/event-store/sql.ts';
import { OverBudget } from '../src/index.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const all = { from: Date.UTC(2015, 0, 1), to: Date.UTC(2199, 0, 1), where: { all: [] } };
const uuid = (n: number) => `${n % 2 === 0 ? 'f' : '0'}0000000-0000-4000-8000-00000000000${n}`;

describe.each(engines)('event lists on $name', (engine) => {
  let store: TestStore;
  let projectId: number;
  beforeAll(async () => {
    store = await engine.open();
    ({ environmentId: projectId } = await createTestTenant(store.database));
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    // Three simultaneous events and one future event. Their storage order differs from the order of their timestamps.
    const moment = daysAgo(400);
    await storeEvent(1, moment, { stored: daysAgo(9), properties: { browser: 'Chrome', n: 5 } });
    await storeEvent(2, moment, { stored: daysAgo(5), properties: { browser: 'chrome mobile' } });
    await storeEvent(3, moment, { stored: daysAgo(7), properties: { browser: 'Firefox', n: 5.0 } });
    await storeEvent(4, daysAgo(20), {
      stored: daysAgo(3),
      properties: { browser: 'Chrome', large: 'x'.repeat(5000) },
    });
    await storeEvent(5, daysAgo(0.1), { stored: daysAgo(8), properties: { browser: ['Chrome'], n: '' } });
    await storeEvent(6, daysAgo(-3), { stored: daysAgo(1), properties: { browser: true, n: null } });
  });
  afterAll(() => store.stop());

  const storeEvent = (n: number, time: Date, { stored, properties }: { stored: Date; properties: object }) =>
    store.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, properties, elements_chain,
                          captured_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, '{"plan": "pro"}', $7, 'a.b', $8, $9)`,
      [projectId, time, uuid(n), n === 6 ? 'other' : 'page', `d${n % 2}`, uuid(9), properties, time, stored],
    );
  const usual = { by: 'timestamp', events: null, uuid: null, after: null, isOldestFirst: false } as const;
  const list = (asked: Partial<EventListQuery & { maxBytes: number }> = {}) =>
    store.events.list({ ...all, ...usual, projectId, limit: 100, maxBytes: 1e9, ...asked }, ample());
  const numbers = async (asked: Partial<EventListQuery> = {}) =>
    (await list(asked)).events.map((event) => Number(event.uuid.at(-1)));
  const positionOf = ({ uuid, timestamp, created_at }: ListedEvent, by: EventListQuery['by']): EventPosition => ({
    uuid,
    time: (by === 'timestamp' ? timestamp : created_at).getTime(),
  });

  test("returns the time of each distinct ID's latest event", async () => {
    const found = await store.events.latest({ projectId, distinctIds: ['d0', 'd1', 'unknown'] }, ample());
    const days = found.map(({ distinctId, time }) => [distinctId, (Date.now() - time) / 86_400_000] as const);
    expect(days.sort()).toEqual([
      ['d0', expect.closeTo(-3, 1)],
      ['d1', expect.closeTo(0.1, 1)],
    ]);
    expect(await store.events.latest({ projectId, distinctIds: [] }, ample())).toEqual([]);
  });

  test.each<[string, Partial<EventListQuery>, number[]]>([
    ['lists events by time, the newest first', {}, [6, 5, 4, 2, 3, 1]],
    ['lists events by time, the oldest first', { isOldestFirst: true }, [1, 3, 2, 4, 5, 6]],
    [
      'lists events in the order in which they were stored',
      { by: 'created_at', isOldestFirst: true },
      [1, 5, 3, 2, 4, 6],
    ],
    ['lists events with a name', { events: ['other'] }, [6]],
    ['lists nothing for an unknown name', { events: ['none'] }, []],
    ['lists a single event', { uuid: uuid(3) }, [3]],
    ['lists events until now', { to: Date.now() }, [5, 4, 2, 3, 1]],
    ['lists the events of the last 30 days', { from: Date.now() - 30 * 86_400_000 }, [6, 5, 4]],
    [
      'lists events with a property',
      { where: { property: { of: 'event', key: 'browser' }, test: { is: 'equal', values: ['Chrome'] } } },
      [4, 1],
    ],
    [
      'lists events with a distinct ID',
      { where: { property: { of: 'column', key: 'distinct_id' }, test: { is: 'equal', values: ['d0'] } } },
      [6, 4, 2],
    ],
    [
      'lists events whose displayed person has a property',
      { where: { property: { of: 'shown person', key: 'plan' }, test: { is: 'equal', values: ['pro'] } } },
      [6, 5, 4, 2, 3, 1],
    ],
  ])('%s', async (_name, asked, expected) => {
    expect(await numbers(asked)).toEqual(expected);
  });

  test.each<Pick<EventListQuery, 'by' | 'isOldestFirst'>>([
    { by: 'timestamp', isOldestFirst: false },
    { by: 'timestamp', isOldestFirst: true },
    { by: 'created_at', isOldestFirst: true },
  ])('returns the same events in pages as in a single list: %o', async (order) => {
    const whole = await numbers(order);
    const seen: number[] = [];
    for (let after: EventPosition | null = null, hasMore = true; hasMore; ) {
      const page: Awaited<ReturnType<typeof list>> = await list({ ...order, after, limit: 2 });
      seen.push(...page.events.map((event) => Number(event.uuid.at(-1))));
      expect(page.events).toHaveLength(2);
      after = positionOf(page.events[1] as ListedEvent, order.by);
      hasMore = page.hasMore;
    }
    expect(seen).toEqual(whole);
  });

  test('returns the keys of the events on a page, for each offset and length', async () => {
    const { events } = await list();
    const [uuids, range] = [events.map((event) => event.uuid), { ...all, ...usual, projectId }];
    for (const [offset, limit] of [
      [0, 2],
      [1, 3],
      [4, 2],
      [5, 9],
      [6, 1],
    ] as const) {
      const { keys } = await store.events.keys({ ...range, offset, limit }, ample());
      expect(keys.map((key) => key.uuid)).toEqual(uuids.slice(offset, offset + limit));
      expect(await store.events.read({ projectId, keys }, ample())).toEqual(events.slice(offset, offset + limit));
    }
  });

  describe('searches that run out of time', () => {
    let ofSearch: number;
    const ages = [400, 399.5, 110, 40, 2, 0.01];
    beforeAll(async () => {
      ({ environmentId: ofSearch } = await createTestTenant(store.database));
      await store.database.sql.query(
        `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
         SELECT $1, date_trunc('milliseconds', now()) - days * interval '1 day', gen_random_uuid(),
                CASE days WHEN 110 THEN 'slow' ELSE 'fast' END, 'd' || days, gen_random_uuid(), '{}', now()
           FROM unnest($2::float8[]) AS days`,
        [ofSearch, ages],
      );
      await store.database.sql.query(
        `CREATE FUNCTION stop_at_slow(event text) RETURNS boolean LANGUAGE plpgsql AS $$
         BEGIN
           IF event = 'slow' THEN RAISE EXCEPTION USING ERRCODE = '57014'; END IF;
           RETURN true;
         END $$`,
      );
    });

    /**
     * A condition that makes the engine exceed a limit when it reads the event `slow`, regardless of the machine's
     * speed.
     */
    const stopsAtSlow: Condition = {
      expression: {
        ...{ key: 'stops', isAggregate: false, reads: [], isShownAsText: false, columns: () => [] },
        print: (engine) =>
          engine === 'postgres'
            ? sql`stop_at_slow(e.event)`
            : sql`length(range(toUInt64(if(e.event = 'slow', 450000000, 0)))) = 0`,
      },
    };
    const search = (asked: Partial<EventListQuery>) =>
      store.events.keys({ ...all, ...usual, projectId: ofSearch, limit: 10, ...asked }, ample());
    const agesOf = (keys: { distinctId: string }[]) => keys.map(({ distinctId }) => Number(distinctId.slice(1)));

    test.each([
      [false, [0.01, 2, 40], [110, 399.5, 400]],
      [true, [400, 399.5], [110, 40, 2, 0.01]],
    ])(
      'returns the found events and the position where the search stopped (oldest first: %s)',
      async (isOldestFirst, before, after) => {
        const { keys, stoppedAt } = await search({ where: stopsAtSlow, isOldestFirst });
        expect(agesOf(keys)).toEqual(before);
        expect(stoppedAt).not.toBeNull();
        const rest = await search({ after: stoppedAt, isOldestFirst });
        expect(agesOf(rest.keys)).toEqual(after);
        expect(rest.stoppedAt).toBeNull();
      },
    );

    test.each([false, true])(
      'each page advances by at least a day, or the search fails (oldest first: %s)',
      async (isOldestFirst) => {
        const times: number[] = [];
        const walk = async () => {
          for (let after: EventPosition | null = null; ; ) {
            const { stoppedAt }: { stoppedAt: EventPosition | null } = await search({
              ...{ where: stopsAtSlow, after, isOldestFirst },
            });
            if (stoppedAt === null) return;
            after = stoppedAt;
            times.push(stoppedAt.time);
          }
        };
        await expect(walk()).rejects.toThrow(OverBudget);
        expect(times.length).toBeGreaterThan(0);
        const steps = times.slice(1).map((time, at) => (isOldestFirst ? 1 : -1) * (time - (times[at] ?? 0)));
        for (const step of steps) expect(step).toBeGreaterThanOrEqual(86_400_000 - 1);
      },
    );

    test('fails if the search stops before the offset, or if the list cannot return a position', async () => {
      await expect(search({ where: stopsAtSlow, offset: 4 })).rejects.toThrow(OverBudget);
      const whole = { ...all, ...usual, projectId: ofSearch, where: stopsAtSlow, limit: 10, maxBytes: 1e9 };
      await expect(store.events.list(whole, ample())).rejects.toThrow(OverBudget);
    });
  });

  test('ends a page with the event that exceeds the size limit', async () => {
    const { events, hasMore } = await list({ maxBytes: 4000 });
    expect([events.map((event) => event.uuid.at(-1)), hasMore]).toEqual([['6', '5', '4'], true]);
    expect(await list({ to: all.from })).toEqual({ events: [], hasMore: false });
  });

  test('returns all columns of an event', async () => {
    const [stored] = await store.database.sql.query(
      `SELECT uuid, event, distinct_id, timestamp, captured_at, created_at, person_id, person_properties::text, properties::text,
              elements_chain
         FROM event WHERE project_id = $1 AND uuid = $2`,
      [projectId, uuid(1)],
    );
    expect((await list({ uuid: uuid(1) })).events).toEqual([stored]);
  });

  test.each<[string, string, string | null, number, string[]]>([
    ['by frequency', 'browser', null, 1000, ['Chrome', 'Firefox', 'chrome mobile', 'true']],
    ['only those that contain a text', 'browser', 'CHROME', 1000, ['Chrome', 'chrome mobile']],
    ['only those of the latest events', 'browser', null, 3, ['Chrome', 'true']],
    ['equal numbers in different notations are one value', 'n', null, 1000, ['5']],
    ['none for an unknown property', 'nothing', null, 1000, []],
    ['none that is too long', 'large', null, 1000, []],
  ])('returns the values of a property: %s', async (_name, key, containing, searchedEvents, expected) => {
    const property = { of: 'event', key } as const;
    const select = { ...all, projectId, events: null };
    const found = await store.events.values(
      { ...{ select, property, containing, searchedEvents }, maxValueLength: 400, limit: 10 },
      ample(),
    );
    expect(found).toEqual(expected);
  });
});
