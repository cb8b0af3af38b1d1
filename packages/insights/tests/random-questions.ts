import { isDeepStrictEqual } from 'node:util';
import { createTestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { runQuery } from '../src/index.ts';
import { type Dataset, merge, storeDataset } from './case-world.ts';
import {
  type Counting,
  type History,
  type NaiveInterval,
  naiveFunnel,
  naiveLifecycle,
  naiveRetention,
  naiveTrend,
} from './naive-answers.ts';
import { ample, type TestStore } from './test-store.ts';

const names = ['open', 'fill', 'send'];
const persons = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
const zones = ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Kathmandu'];
/** Two weeks around the day on which Berlin has 25 hours. */
const beginning = Date.parse('2026-10-18T00:00Z');
const hours = 14 * 24;

const told = fc.record({
  event: fc.constantFrom(...names),
  id: fc.constantFrom(...persons.flatMap((person) => [person, `${person}-anon`])),
  /** No two at the same moment. */
  at: fc.integer({ min: 0, max: hours * 3600 - 1 }),
  plan: fc.constantFrom('free', 'pro', 7, true, null, ''),
  amount: fc.constantFrom(1, 2.5, -3, 'many', undefined),
});
const history = fc.record({
  events: fc.uniqueArray(told, { selector: ({ at }) => at, minLength: 20, maxLength: 80 }),
  zone: fc.constantFrom(...zones),
  merges: fc.uniqueArray(fc.tuple(fc.constantFrom(...persons), fc.constantFrom(...persons)), {
    selector: ([from]) => from,
    maxLength: 2,
  }),
});
type Told = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** Who is who in the end: each id belongs to its person, and merges move all ids of one to another. */
function ownersOf({ merges }: Told): { owners: Map<string, string>; done: [string, string][] } {
  const owners = new Map(
    persons.flatMap(
      (person) =>
        [
          [person, person],
          [`${person}-anon`, person],
        ] as [string, string][],
    ),
  );
  const done: [string, string][] = [];
  for (const [from, into] of merges) {
    const [gone, stays] = [owners.get(from) ?? from, owners.get(into) ?? into];
    if (gone === stays) continue;
    for (const [id, owner] of owners) if (owner === gone) owners.set(id, stays);
    done.push([from, into]);
  }
  return { owners, done };
}

async function store({ database }: TestStore, given: Told): Promise<{ projectId: number; memory: History }> {
  const { environmentId: projectId } = await createTestTenant(database);
  const created = new Map(persons.map((person, at) => [person, beginning + at * 30 * 3_600_000]));
  const dataset: Dataset = {
    persons: persons.map((person) => ({
      distinct_ids: [person, `${person}-anon`],
      created_at: new Date(created.get(person) ?? 0).toISOString(),
      properties: {},
    })),
    events: given.events.map(({ event, id, at, plan, amount }) => ({
      event,
      distinct_id: id,
      timestamp: new Date(beginning + at * 1000).toISOString(),
      properties: { plan, ...(amount !== undefined && { amount }) },
    })),
  };
  await storeDataset(database.sql, projectId, dataset);
  const { owners, done } = ownersOf(given);
  for (const pair of done) await merge(database.sql, projectId, pair);
  for (const [from, into] of done) {
    const stays = owners.get(into) ?? into;
    created.set(stays, Math.min(created.get(stays) ?? 0, created.get(from) ?? 0));
  }
  await database.sql.query('UPDATE environment SET timezone = $2, week_start_day = 1 WHERE id = $1', [
    projectId,
    given.zone,
  ]);
  const events = given.events.map(({ event, id, at, plan, amount }) => ({
    event,
    person: owners.get(id) ?? id,
    time: beginning + at * 1000,
    properties: { plan, amount },
  }));
  return { projectId, memory: { events, created, zone: given.zone } };
}

const day = fc
  .integer({ min: -1, max: 14 })
  .map((at) => new Date(beginning + at * 86_400_000).toISOString().slice(0, 10));
const range = fc.tuple(day, day).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }));
const eventName = fc.constantFrom(...names);

const question = fc.oneof(
  fc.record({
    kind: fc.constant('trend' as const),
    event: fc.constantFrom(...names, null),
    math: fc.constantFrom<Counting[]>('total', 'dau', 'weekly_active', 'sum', 'avg_count_per_actor'),
    interval: fc.constantFrom<NaiveInterval[]>('day', 'week', 'month'),
    plan: fc.constantFrom('free', 'pro', null),
    range,
  }),
  fc.record({
    kind: fc.constant('funnel' as const),
    order: fc.constantFrom('ordered' as const, 'strict' as const, 'unordered' as const),
    steps: fc.shuffledSubarray(names, { minLength: 2 }),
    isOptional: fc.boolean(),
    days: fc.integer({ min: 1, max: 10 }),
    range,
  }),
  fc.record({
    kind: fc.constant('retention' as const),
    event: eventName,
    columns: fc.integer({ min: 1, max: 9 }),
    range,
  }),
  fc.record({ kind: fc.constant('lifecycle' as const), event: eventName, range }),
);
type Asked = typeof question extends fc.Arbitrary<infer T> ? T : never;

/** The query, what the naive way says, and what of the answer is held against it. */
function translate(
  asked: Asked,
  memory: History,
): { query: unknown; expected: unknown; read: (results: never[]) => unknown } {
  const { from, to } = asked.range;
  const dateRange = { date_from: from, date_to: to };
  const node = (event: string | null) => ({ kind: 'EventsNode', event });
  switch (asked.kind) {
    case 'trend': {
      const { event, math, interval, plan } = asked;
      const properties = plan === null ? [] : [{ key: 'plan', type: 'event', operator: 'exact', value: plan }];
      return {
        query: {
          kind: 'TrendsQuery',
          dateRange,
          interval,
          properties,
          series: [{ ...node(event), math, ...(math === 'sum' && { math_property: 'amount' }) }],
        },
        expected: naiveTrend(memory, { event, math, interval, plan, from, to }),
        read: ([series]: { data: number[] }[]) => series?.data,
      };
    }
    case 'funnel': {
      const { steps, order } = asked;
      // Whose way over an optional step is out of time may still be in time without it: not the naive way's matter.
      const optional = asked.isOptional && order !== 'unordered' ? steps.slice(1, -1) : [];
      const days = optional.length > 0 ? 30 : asked.days;
      const isRequired = (step: number) => !optional.includes(steps[step] ?? '');
      return {
        query: {
          kind: 'FunnelsQuery',
          dateRange,
          series: steps.map((step) => ({ ...node(step), optionalInFunnel: optional.includes(step) })),
          funnelsFilter: { funnelOrderType: order, funnelWindowInterval: days },
        },
        expected: naiveFunnel(memory, { steps, optional, order, windowMs: days * 86_400_000, from, to }).filter(
          (_, step) => isRequired(step),
        ),
        read: (results: { count: number }[]) => results.map(({ count }) => count).filter((_, step) => isRequired(step)),
      };
    }
    case 'retention': {
      const { event, columns } = asked;
      const entity = { id: event, type: 'events' };
      return {
        query: {
          kind: 'RetentionQuery',
          dateRange,
          retentionFilter: { totalIntervals: columns, targetEntity: entity, returningEntity: entity },
        },
        expected: naiveRetention(memory, { event, from, to, columns }),
        read: (results: { values: { count: number }[] }[]) =>
          results.map(({ values }) => values.map(({ count }) => count)),
      };
    }
    case 'lifecycle':
      return {
        query: { kind: 'LifecycleQuery', dateRange, series: [node(asked.event)] },
        expected: naiveLifecycle(memory, { event: asked.event, from, to }),
        read: (results: { data: number[] }[]) => results.map(({ data }) => data),
      };
    default:
      return asked satisfies never;
  }
}

/** Asks random questions about random histories, and holds each answer against the naive one. */
export async function askRandomQuestions(
  store_: () => TestStore,
  { histories, questions }: { histories: number; questions: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(question, { minLength: questions, maxLength: questions }),
      async (given, asked) => {
        const { projectId, memory } = await store(store_(), given);
        for (const one of asked) {
          const { query, expected, read } = translate(one, memory);
          const deps = { sql: store_().database.sql, events: store_().events };
          const { results } = await runQuery(deps, { projectId, query, now: Date.parse('2026-12-01T12:00Z') }, ample());
          const answered = read(results as never[]);
          if (!isDeepStrictEqual(rounded(answered), rounded(expected))) {
            throw new Error(
              `${JSON.stringify(query)}\nanswered ${JSON.stringify(answered)}\nexpected ${JSON.stringify(expected)}`,
            );
          }
        }
      },
    ),
    { numRuns: histories, endOnFailure: true },
  );
}

/** Sums of doubles depend on their order; and there is no -0. */
function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded);
  return typeof value === 'number' ? Math.round(value * 1e6) / 1e6 + 0 : value;
}
