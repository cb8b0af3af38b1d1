import fc from 'fast-check';
import { caseFile, type InsightCase } from './case-world.ts';

export interface ChangedQuery {
  one: InsightCase;
  query: unknown;
}

/** Values that are rare or missing in the cases. */
const unexpectedValues: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 2, 7, 1.5, 1e308, -1e308, 2 ** 53, 1e-300, '', 'x', '%', '_', '\\', '\ud800', 'a\0'],
  ...['-7d', 'all', '-1mStart', '2024-05-13', '2024-05-13T10:00:00Z', '9999-12-31', '1900-01-01', 'x'.repeat(5000)],
  ...["'; drop table event; --", '(', '[a-z', '^(a+)+$', '((((A))))', 'A**A**A**A', 'A%0', 'A/B'],
  ...['minute', 'hour', 'week', 'month', 'dau', 'weekly_active', 'monthly_active', 'unique_session', 'unique_group'],
  ...['p90', 'sum', 'first_time_for_user', 'avg_count_per_actor', 'BoldNumber', 'ActionsPie', 'strict', 'unordered'],
  ...['ActionsLineGraphCumulative', 'trends', 'time_to_convert', '$browser', 'count()', 'timestamp DESC'],
  ...[
    [],
    {},
    [null],
    [[]],
    [{}],
    ['a', 'b'],
    [1, 2],
    [2, 1],
    { type: 'AND', values: [] },
    { type: 'OR', values: [{}] },
  ],
  { key: 'plan', value: 'pro', operator: 'exact', type: 'person' },
  [{ key: 'plan', operator: 'is_not_set', type: 'event', value: '' }],
];

/** All field values in the cases, by field name. */
const byName = new Map<string, unknown[]>();
for (const { query } of caseFile.cases) collect(query);

function collect(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (!Array.isArray(value)) byName.set(name, [...(byName.get(name) ?? []), part]);
    collect(part);
  }
}

const change = fc.record({
  how: fc.constantFrom('left out', 'of another query', 'of another query', 'odd', 'added'),
  ...{ place: fc.nat(), name: fc.nat(), value: fc.nat() },
});

/** The seed is fixed, so that only a code change can cause a failure. MILLRACE_SEED selects other queries. */
export const seed = fc.readConfigureGlobal().seed ?? 28;

const orders = (names: readonly string[]) =>
  fc.array(
    fc.tuple(fc.constantFrom(...names), fc.constantFrom('', ' ASC', ' DESC')).map((parts) => parts.join('')),
    { maxLength: 3 },
  );
const page = { limit: fc.integer({ min: 1, max: 20 }), offset: fc.integer({ min: 0, max: 10 }) };

const eventColumns = [
  ...['*', 'uuid', 'event', 'timestamp', 'created_at', 'distinct_id', 'person', 'person_id', 'person_display_name'],
  ...['properties', 'elements_chain', 'count()', 'properties.plan', 'properties.$browser', 'properties.amount'],
  ...['properties.paid', 'person.properties.email', 'person.properties.plan', 'event -- label'],
];
const events = fc.record({
  kind: fc.constant('EventsQuery'),
  select: fc.array(fc.constantFrom(...eventColumns), { maxLength: 4 }),
  orderBy: orders(eventColumns),
  after: fc.constantFrom('all', '2024-03-10', '2024-09-03'),
  ...page,
});

const actorColumns = ['person', 'id', 'actor', 'event_count', 'created_at', 'person_display_name'];
const series = [{ kind: 'EventsNode' }];
const dateRange = { date_from: '2024-01-01', date_to: '2024-12-31' };
const total = { kind: 'TrendsQuery', dateRange, series, trendsFilter: { display: 'BoldNumber' } };
const actors = fc.record({
  kind: fc.constant('ActorsQuery'),
  select: fc.array(fc.constantFrom(...actorColumns, 'event_distinct_ids'), { maxLength: 4 }),
  orderBy: orders(actorColumns),
  source: fc.constantFrom(
    null,
    { kind: 'InsightActorsQuery', source: total },
    { kind: 'FunnelsActorsQuery', funnelStep: 1, source: { kind: 'FunnelsQuery', dateRange, series } },
  ),
  search: fc.constantFrom(null, null, 'a', '@'),
  ...page,
});

const rowsQuery: fc.Arbitrary<ChangedQuery> = fc.record({
  one: fc.constantFrom(...caseFile.cases),
  query: fc.oneof<fc.Arbitrary<unknown>[]>(events, events, actors),
});

/** A query from the cases with one or two changes that other clients, mistakes or attackers might cause. */
const oneChanged: fc.Arbitrary<ChangedQuery> = fc
  .tuple(fc.constantFrom(...caseFile.cases), fc.array(change, { minLength: 1, maxLength: 2 }))
  .map(([one, changes]) => {
    const query = structuredClone(one.query);
    for (const each of changes) make(each, query);
    return { one, query };
  });

export const changedQuery = fc.oneof({ weight: 3, arbitrary: oneChanged }, rowsQuery);

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Parts = Record<string, unknown>;

function make({ how, place, name, value }: Change, query: unknown): void {
  const places = placesIn(query);
  const at = places[place % places.length];
  if (at === undefined) return;
  const [where, own] = at;
  const pick = (list: readonly unknown[] = unexpectedValues) => structuredClone(list[value % list.length]);
  if (how === 'left out' && Array.isArray(where)) where.splice(Number(own), 1);
  else if (how === 'left out') delete where[own];
  else if (how === 'of another query') where[own] = pick(byName.get(own));
  else if (how === 'odd') where[own] = pick();
  else if (Array.isArray(where)) where.push(pick(where));
  else {
    const names = [...byName.keys()];
    const added = names[name % names.length] ?? '';
    where[added] = pick(byName.get(added));
  }
}

/**
 * Lists all fields and elements in a query. Each entry consists of an object or list and the name of a field or element
 * in it.
 */
function placesIn(value: unknown): [Parts, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    [value as Parts, name] as [Parts, string],
    ...placesIn(part),
  ]);
}
