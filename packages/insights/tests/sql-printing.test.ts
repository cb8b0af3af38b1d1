/**
 * Checks the printed SQL of all cases. The SQL must not contain strings from the query, and must limit each base table
 * to the project.
 */

import { isDeepStrictEqual } from 'node:util';
import { propertyColumns } from '../src/event-store/clickhouse/tables.ts';
import type { EngineName } from '../src/event-store/selection.ts';
import { renderFragment, type Value } from '../src/event-store/sql.ts';
import { nodesOf } from '../src/sql/ast.ts';
import { printQuery } from '../src/sql/hogql.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { substitute } from '../src/sql/placeholders.ts';
import { pageStatement } from '../src/sql/print/pages.ts';
import { printStatement } from '../src/sql/print/query.ts';
import { SqlProblem } from '../src/sql/problem.ts';
import type { SqlSettings } from '../src/sql/resolve/scope.ts';
import { resolveQuery } from '../src/sql/resolve/select.ts';
import { type SqlCase, sqlCases } from './sql-world.ts';

const projectId = 4711;
const settings: SqlSettings = {
  ...{ projectId, zone: 'Europe/Berlin', weekStart: 1, now: Date.parse(sqlCases.dataset.project.now) },
  propertyTypes: new Map(
    sqlCases.dataset.property_definitions.map(({ type, group_type_index: index, name, property_type: kind }) => [
      `${type}${type === 'group' ? ` ${index}` : ''} ${name}`,
      kind,
    ]),
  ),
  cohorts: [{ id: 815, name: 'Free plan', condition: () => ({ inStaticCohort: 815 }) }],
  ...{ filters: { from: null, to: null, condition: null }, personsAsStored: false },
};

let parser: SqlParser;
beforeAll(() => {
  parser = createParser();
});
afterAll(() => parser.stop());

interface Printed {
  text: string;
  values: unknown[];
  constants: string[];
  hogql: string;
  /** True if `text` also contains the two statements for a page of events. */
  isPage: boolean;
}

const key = { uuid: '00000000-0000-4000-8000-000000000000', timestamp: 0, event: 'visit', distinctId: 'ann' };

const printedCases = new Map<string, Promise<Printed | null>>();

/** Prints each case only once, because each test reads most of the results. */
function printedCase(one: SqlCase, engine: EngineName): Promise<Printed | null> {
  const key = `${engine} ${one.no}`;
  const printed = printedCases.get(key) ?? print(one, engine);
  printedCases.set(key, printed);
  return printed;
}

async function print(one: SqlCase, engine: EngineName): Promise<Printed | null> {
  if (typeof one.query !== 'string') return null;
  const variables = Object.fromEntries(
    (one.variables ?? []).map(({ name }) => [name.toLowerCase().replaceAll(' ', '_'), 'order']),
  );
  try {
    const tree = await parser.parse(one.query.replace(/__COHORT_\w+?__/g, '815'));
    const dateRange = { from: null, to: null };
    const complete = substitute(tree, { values: one.values ?? {}, variables, dateRange });
    const constants = [...nodesOf(complete)].flatMap(({ node, value }) =>
      node === 'Constant' && typeof value === 'string' ? [value] : [],
    );
    const { query } = resolveQuery(complete, settings);
    const placeholder = (_: Value, position: number) => `$${position}`;
    const { text, values } = renderFragment(printStatement(query, { engine, projectId }), placeholder);
    const page = engine === 'clickhouse' ? pageStatement(query, projectId) : null;
    const ofPage = page === null ? [] : [page.keys(engine), page.print(engine, [key])];
    return {
      text: [text, ...ofPage.map((statement) => renderFragment(statement, placeholder).text)].join('\n'),
      ...{ values, constants, hogql: printQuery(complete, settings.filters), isPage: page !== null },
    };
  } catch (error) {
    if (error instanceof SqlProblem) return null;
    throw error;
  }
}

describe.each(['postgres', 'clickhouse'] as const)('SQL printed for %s', (engine) => {
  test("binds the query's constants instead of printing them into the SQL", async () => {
    const leaks: string[] = [];
    let printed = 0;
    for (const one of sqlCases.cases) {
      const found = await printedCase(one, engine);
      if (found === null) continue;
      printed += 1;
      // Skip words that templates contain, such as `day`, because they do not show whether a string was bound.
      const own = found.constants.filter((text) => text.length > 2 && !templateWords.has(text));
      for (const text of own) if (isWord(text, found.text)) leaks.push(`${one.no}: ${text}`);
    }
    expect(printed).toBeGreaterThan(200);
    expect(leaks).toEqual([]);
  });

  test('limits every base table to the project', async () => {
    const tables = /FROM (event e|events AS e|person p|person_distinct_id o|"group" g0|cohort_member m)\b/g;
    for (const one of sqlCases.cases) {
      const found = await printedCase(one, engine);
      if (found === null) continue;
      const reads = [...found.text.matchAll(tables)].length;
      const conditions = [...found.text.matchAll(/WHERE (?:e|p|o|g0|m)\.project_id = \$\d+/g)].length;
      expect([one.no, conditions >= reads]).toEqual([one.no, true]);
    }
  });
});

test.each([
  ['SELECT * FROM events ORDER BY timestamp DESC LIMIT 10', true],
  ['SELECT properties.price FROM events AS e WHERE event = {name} ORDER BY e.timestamp LIMIT 10 OFFSET 5', true],
  ['SELECT event FROM events ORDER BY timestamp LIMIT 10', false],
  ['SELECT event FROM events ORDER BY properties.price LIMIT 10', false],
  ['SELECT * FROM events LIMIT 10', false],
  ['SELECT * FROM events ORDER BY timestamp LIMIT 5000', false],
  ['SELECT properties, row_number() OVER (ORDER BY timestamp) AS n FROM events ORDER BY n LIMIT 10', false],
  ['SELECT properties, count() FROM events GROUP BY properties ORDER BY 2 LIMIT 10', false],
  ['SELECT DISTINCT properties FROM events ORDER BY properties LIMIT 10', false],
  ['SELECT * FROM persons ORDER BY created_at LIMIT 10', false],
])('splits a page of events into two statements on ClickHouse, for %s: %s', async (query, isPage) => {
  expect(await print({ no: '', title: '', query, values: { name: 'visit' } }, 'clickhouse')).toMatchObject({ isPage });
});

test('returns a string in `hogql` that parses to the same query', async () => {
  let compared = 0;
  const different: unknown[] = [];
  // The next test covers the content of `{filters}`.
  for (const one of sqlCases.cases.filter(({ query }) => !String(query).includes('{filters'))) {
    const found = await printedCase(one, 'postgres');
    if (found === null) continue;
    const again = await print({ ...one, query: found.hogql }, 'postgres');
    compared += 1;
    if (!isDeepStrictEqual({ ...again, constants: null }, { ...found, constants: null }))
      different.push([one.no, found.hogql, found.text, again?.text]);
  }
  expect(different).toEqual([]);
  expect(compared).toBeGreaterThan(200);
});

test.each([
  [
    'SELECT 1 FROM sessions AS s WHERE {filters}',
    { from: 0, to: 1000, condition: null },
    "SELECT 1 FROM sessions AS s WHERE and(greaterOrEquals(s.$start_timestamp, '1970-01-01T00:00:00.000Z'), less(s.$start_timestamp, '1970-01-01T00:00:01.000Z'))",
  ],
  [
    'SELECT 1 FROM events WHERE {filters}',
    { from: 0, to: null, condition: null },
    "SELECT 1 FROM events WHERE greaterOrEquals(events.timestamp, '1970-01-01T00:00:00.000Z')",
  ],
  [
    'SELECT 1 FROM events WHERE {filters}',
    { from: 0, to: null, condition: { all: [] } },
    'SELECT 1 FROM events WHERE {filters}',
  ],
  [
    'SELECT 1 FROM events WHERE timestamp > {filters.dateRange.from}',
    { from: null, to: null, condition: null },
    'SELECT 1 FROM events WHERE true',
  ],
])('prints the dates of {filters} in %s with %j', async (text, filters, expected) => {
  const nothing = { values: {}, variables: {}, dateRange: { from: null, to: null } };
  expect(printQuery(substitute(await parser.parse(text), nothing), filters)).toBe(expected);
});

/** Returns whether a text contains a word that is not part of a longer word. */
function isWord(word: string, text: string): boolean {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u').test(text);
}

/** Query constants that select a template and may therefore occur in the printed SQL. */
const templateWords = new Set<string>([
  ...['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'String', 'Array(String)', 'true'],
  ...['sum', 'avg', 'min', 'max', 'items', 'UTC', 'Nullable(String)', 'Nullable(Float64)', 'Nullable(Bool)'],
  ...propertyColumns.few,
  ...propertyColumns.many,
]);
