import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import fc from 'fast-check';
import { createSqlDatabase, type SqlDatabase } from './sql-database.ts';
import { toArrayLiterals } from './statements.ts';

let testDatabase: TestDatabase;
let database: SqlDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createSqlDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

async function readBack(type: string, list: readonly unknown[]): Promise<unknown> {
  const [row] = await database.sql.query<{ members: unknown }>(`SELECT to_json($1::${type}[]) AS members`, [list]);
  return row?.members;
}

test('passes any string in a list parameter to PostgreSQL unchanged', async () => {
  const withoutNul = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().replaceAll('\0', ''));
  const odd = ['', 'null', 'NULL', '{}', ',', ' ', '"', '\\', '\\"', "'", '\n\t', 'ü🦊', '{"a":"\\"b\\\\"}'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(withoutNul, fc.constantFrom(...odd))), async (texts) => {
      expect(await readBack('text', texts)).toEqual(texts);
    }),
    { numRuns: 200, examples: [[odd]] },
  );
});

test.each<[string, unknown[], unknown[]]>([
  ['int', [0, -1, 2_147_483_647], [0, -1, 2_147_483_647]],
  ['bigint', [9_007_199_254_740_993n, '1'], [9_007_199_254_740_993n, 1].map(Number)],
  ['float8', [0.1, -1e300, Number.NaN, Number.POSITIVE_INFINITY], [0.1, -1e300, 'NaN', 'Infinity']],
  ['boolean', [true, false], [true, false]],
  ['text', [null, undefined, 'null'], [null, null, 'null']],
  ['int', [], []],
  ['bytea', [Buffer.from('ab')], ['\\x6162']],
  [
    'int',
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, 2],
      [3, 4],
    ],
  ],
])('passes a list parameter of type %s to PostgreSQL unchanged: %p', async (type, list, expected) => {
  expect(await readBack(type, list)).toEqual(expected);
});

test('passes parameters that are not lists unchanged', () => {
  const when = new Date();
  const bytes = Buffer.from('x');
  expect(toArrayLiterals([1, 'a', null, when, bytes, { a: [1] }])).toEqual([1, 'a', null, when, bytes, { a: [1] }]);
});
