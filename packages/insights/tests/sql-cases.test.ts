// Cases sql-001 to sql-250, sql-260 to sql-300, sql-373 and from sql-400: SQL queries on fixed events, with the
// expected results and errors.

import { isAppError } from '@millrace/runtime';
import { readProjectSettings } from '../src/records-store.ts';
import { databaseSchema } from '../src/sql/database-schema.ts';
import type { SqlParser } from '../src/sql/parse.ts';
import { SqlProblem } from '../src/sql/problem.ts';
import { runSql } from '../src/sql/run.ts';
import { openSqlWorld, type SqlCase, type SqlWorld, sqlCases } from './sql-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

describe.each(engines)('SQL cases on $name', (engine) => {
  let store: TestStore;
  let world: SqlWorld;
  let parser: SqlParser;
  beforeAll(async () => {
    store = await engine.open();
    ({ world, parser } = await openSqlWorld(store));
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  test.each(sqlCases.cases.map((one) => [`${one.no}: ${one.title}`, one] as const))('%s', async (_, one) => {
    const result = await run(one);
    if (one.error !== undefined) return checkError(result, one.error);
    expect(result).toMatchObject({ columns: one.columns });
    const { results, types, ...response } = result as { results: unknown[][]; types: [string, string][] };
    expect(types.map(([name, type]) => [name, classOf(type)])).toEqual(
      one.types?.map(([name, type]) => [name, classOf(type)]),
    );
    const rows = one.unordered ? sorted(results) : results;
    const expected = one.unordered ? sorted(one.results ?? []) : one.results;
    expect(rows).toEqual(matching(expected, rows));
    for (const [name, value] of Object.entries(one.response ?? {}))
      expect((response as Record<string, unknown>)[name]).toEqual(isAbsent(value) ? undefined : value);
  });

  test.each(Object.entries(databaseSchema().tables))(
    'a query can read every column of %s that the schema describes',
    async (name, { fields }) => {
      const columns = Object.values(fields).flatMap(({ hogql_value: field, fields: below }) =>
        // The schema does not describe the columns of objects within objects.
        (below ?? ['']).filter((one) => one !== 'person').map((one) => (one === '' ? field : `${field}.${one}`)),
      );
      const aliased = columns.map((column, at) => `${column} AS c${at}`);
      const result = await run({ no: '', title: '', query: `SELECT ${aliased.join(', ')} FROM ${name}` });
      expect(result).toMatchObject({ columns: aliased.map((_, at) => `c${at}`), results: expect.any(Array) });
      expect((result as { results: unknown[] }).results.length).toBeGreaterThan(0);
    },
  );

  async function run(one: SqlCase): Promise<unknown> {
    const { values = {}, filters = {}, variables = [] } = one;
    const byName = variables.map(({ name, default_value, value, isNull }): [string, unknown] => [
      name.toLowerCase().replaceAll(' ', '_'),
      isNull ? null : (value ?? default_value),
    ]);
    const { projectId, now } = world;
    const request = {
      projectId,
      settings: await readProjectSettings(store.database.sql, projectId),
      now,
      text: world.textOf(one.query),
      values,
      filters,
      variables: Object.fromEntries(byName),
    };
    return runSql({ sql: store.database.sql, events: store.events, parser }, request, ample()).catch(
      (error: unknown) => {
        if (!isAppError(error, 'invalid')) throw error;
        const { cause } = error as Error;
        const place = cause instanceof SqlProblem ? cause.place : null;
        return { status: 400, code: error.code, detail: error.message, start: place?.start, end: place?.end };
      },
    );
  }
});

function checkError(result: unknown, { detail, ...expected }: NonNullable<SqlCase['error']>): void {
  expect(result).toMatchObject(expected);
  expect(String((result as { detail: string }).detail).toLowerCase()).toContain(detail.toLowerCase());
}

const sorted = (rows: unknown[][]) => [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const isAbsent = (value: unknown) => typeof value === 'object' && value !== null && '$absent' in value;

/**
 * Returns the class of a type, regardless of the width of integers, the precision of times and whether the type is
 * nullable.
 */
function classOf(type: string): string {
  return type
    .replace(/(?:Nullable|LowCardinality)\(/g, '(')
    .replace(/U?Int\d+/g, 'Int')
    .replace(/DateTime(?:64)?\((?:\d, )?'[^']*'\)/g, 'DateTime')
    .replace(/[()]/g, '');
}

/**
 * Returns the result with its incorrect values replaced by the expected ones, so that a correct result is unchanged.
 * Numbers may differ in the last digits.
 */
function matching(expected: unknown, result: unknown): unknown {
  if (typeof expected === 'object' && expected !== null && '$json' in expected) {
    const { $json: json } = expected as { $json: unknown };
    return JSON.stringify(order(JSON.parse(String(result)))) === JSON.stringify(order(json)) ? result : expected;
  }
  if (Array.isArray(expected) && Array.isArray(result)) return expected.map((value, at) => matching(value, result[at]));
  if (typeof expected === 'number' && typeof result === 'number')
    return Math.abs(expected - result) <= 1e-9 * Math.max(1, Math.abs(expected)) ? result : expected;
  return expected;
}

/** Sorts the keys of objects. */
function order(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(order);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, order(child)]),
  );
}
