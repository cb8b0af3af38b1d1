import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import fc from 'fast-check';
import { type CopyRow, copyRows, releaseChunks } from './copy-format.ts';
import { createDatabase, type Database } from './database.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  await database.sql.query(`CREATE TABLE sample (
    place int GENERATED ALWAYS AS IDENTITY, flag boolean, small smallint, number int, words text, document jsonb, id uuid,
    moment timestamptz)`);
});
beforeEach(() => database.sql.query('TRUNCATE sample'));
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

type Field = 'flag' | 'small' | 'number' | 'words' | 'document' | 'id' | 'moment';

async function sent<Value>(field: Field, values: Value[], write: (row: CopyRow, value: Value) => void) {
  const statement = `COPY sample (${field}) FROM STDIN (FORMAT binary)`;
  await database.transaction((tx) => tx.copy(statement, copyRows(1, values, write)));
  const rows = await database.sql.query<{ value: string | null }>(
    `SELECT ${field}::text AS value FROM sample ORDER BY place`,
  );
  return rows.map(({ value }) => value);
}

test.each<[Field, unknown[], (row: CopyRow, value: never) => void, (string | null)[]]>([
  ['flag', [true, false], (row, value) => row.boolean(value), ['true', 'false']],
  ['small', [0, -32_768, 32_767], (row, value) => row.smallint(value), ['0', '-32768', '32767']],
  [
    'number',
    [0, -2_147_483_648, 2_147_483_647],
    (row, value) => row.integer(value),
    ['0', '-2147483648', '2147483647'],
  ],
  ['words', ['', 'tab\tand\\N\n', 'ü🦊', '\\.'], (row, value) => row.text(value), ['', 'tab\tand\\N\n', 'ü🦊', '\\.']],
  ['document', ['{"a":[1,"ü\\n"]}', 'null'], (row, value) => row.jsonb(value), ['{"a": [1, "ü\\n"]}', 'null']],
  ['words', [null], (row) => row.null(), [null]],
])('COPY transfers %s values (%#)', async (field, values, write, expected) => {
  expect(await sent(field, values as never[], write)).toEqual(expected);
});

test('COPY transfers any UUID, in upper or lower case', async () => {
  const uuids = fc.sample(fc.uuid(), 300);
  const asWritten = uuids.map((uuid, index) => (index % 2 === 0 ? uuid : uuid.toUpperCase()));
  expect(await sent('id', asWritten, (row, uuid) => row.uuid(uuid))).toEqual(uuids);
});

test('COPY transfers any time with millisecond precision', async () => {
  const edges = [
    '0001-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '1999-12-31T23:59:59.999Z',
    '2000-01-01T00:00:00.000Z',
  ];
  const far = ['2036-02-07T06:28:15.999Z', '2068-01-19T03:14:08.001Z', '9999-12-31T23:59:59.999Z'];
  const range = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true };
  const moments = [
    ...[...edges, ...far].map((text) => Date.parse(text)),
    ...fc.sample(fc.date(range), 500).map(Number),
  ];
  await sent('moment', moments, (row, ms) => row.time(ms));
  const rows = await database.sql.query<{ ms: string }>(
    'SELECT (extract(epoch FROM moment) * 1000)::numeric(20, 3)::text AS ms FROM sample ORDER BY place',
  );
  expect(rows.map(({ ms }) => ms)).toEqual(moments.map((ms) => `${ms}.000`));
});

test('COPY transfers strings of all lengths, however they are split into chunks', async () => {
  const lengths = [0, 1, 2730, 2731, 8191, 8192, 8193, 65_531, 65_536, 300_000];
  const texts = ['x', 'ü', '🦊'].flatMap((piece) => lengths.map((length) => piece.repeat(length)));
  expect(await sent('words', texts, (row, text) => row.text(text))).toEqual(texts);
});

test('creates the chunks of a COPY only when they are needed', () => {
  let written = 0;
  const endless = (function* () {
    for (;;) yield 'x'.repeat(1000);
  })();
  const chunks = copyRows(1, endless, (row, text) => {
    written += 1;
    row.text(text);
  });
  chunks.next();
  expect(written).toBeLessThan(100);
});

test('a COPY without rows succeeds', async () => {
  expect(await sent('words', [], (row, text) => row.text(text))).toEqual([]);
});

test('COPY transfers JSON that consists of bytes and a string', async () => {
  const bytes = Buffer.from('before{"a":"ü🦊"}after');
  const end = bytes.indexOf('}') + 1;
  const parts = [
    [end, ''],
    [end - 1, ',"b":"ß"}'],
  ] as const;
  expect(await sent('document', [...parts], (row, [to, rest]) => row.jsonbBytes(bytes, 6, to, rest))).toEqual([
    '{"a": "ü🦊"}',
    '{"a": "ü🦊", "b": "ß"}',
  ]);
});

test('reuses only the memory of released chunks', () => {
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(50_000));
  const write = (row: CopyRow, text: string) => row.text(text);
  const chunks = [...copyRows(1, texts, write)];
  const memory = new Set(chunks.map(({ buffer }) => buffer));
  const others = [...copyRows(1, texts, write)];
  expect(others.filter(({ buffer }) => memory.has(buffer))).toEqual([]);
  expect(Buffer.concat(others).equals(Buffer.concat(chunks))).toBe(true);

  releaseChunks(chunks);
  const again = [...copyRows(1, texts, write)];
  expect(again.filter(({ buffer }) => memory.has(buffer))).toHaveLength(texts.length);
  expect(Buffer.concat(again).equals(Buffer.concat(others))).toBe(true);
});
