import { addUuid, checkLine, type Line, readLines } from './lines.ts';

async function read(chunks: string[], maxLineBytes = 100) {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: Line[] = [];
  for await (const some of readLines(source(), maxLineBytes)) lines.push(...some);
  return lines.map(({ number, bytes, endOffset }) => [number, bytes?.toString() ?? null, endOffset]);
}

test.each([
  ['an empty file', [], []],
  [
    'lines across chunks',
    ['a', 'b\nc', '\nd'],
    [
      [1, 'ab', 3],
      [2, 'c', 5],
      [3, 'd', 6],
    ],
  ],
  [
    'a last line with and without a line break',
    ['a\nb\n'],
    [
      [1, 'a', 2],
      [2, 'b', 4],
    ],
  ],
  [
    'Windows line breaks',
    ['a\r\nb\r\n'],
    [
      [1, 'a', 3],
      [2, 'b', 6],
    ],
  ],
  [
    'blank lines, which count as lines',
    ['\n\na\n'],
    [
      [1, '', 1],
      [2, '', 2],
      [3, 'a', 4],
    ],
  ],
  [
    'a byte order mark',
    ['\ufeffa\n\ufeffb'],
    [
      [1, 'a', 5],
      [2, '\ufeffb', 9],
    ],
  ],
] as [string, string[], unknown[]][])('splits an import file into lines: %s', async (_name, chunks, expected) => {
  expect(await read(chunks)).toEqual(expected);
});

test('skips an overlong line, but counts it in the numbers and offsets of later lines', async () => {
  expect(await read(['ok\n1234', '567890', '12\nok'], 8)).toEqual([
    [1, 'ok', 3],
    [2, null, 16],
    [3, 'ok', 18],
  ]);
});

const good = { event: 'a', distinct_id: 'b', timestamp: '2020-01-31T12:00:00Z' };

function check(text: string | Buffer | null) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const checked = checkLine({ number: 7, bytes, raw: [], endOffset: 0 });
  if (checked.kind !== 'invalid') return checked.kind;
  expect(checked.fault.line).toBe(7);
  return [checked.fault.field, checked.fault.reason];
}
const checkEvent = (changes: object) => check(JSON.stringify({ ...good, ...changes }));

test.each([
  {},
  { distinct_id: 42 },
  { distinct_id: undefined, properties: { distinct_id: 'b' } },
  { distinct_id: null, properties: { $distinct_id: 'b' } },
  { $set: null, $set_once: { a: 1 }, properties: {}, extra: [1] },
  { uuid: '0190a6c1-0000-7000-8000-00000000abcd' },
  { uuid: '0190A6C100007000800000000000ABCD' },
  { uuid: null },
  { uuid: '' },
  { timestamp: '2020-02-29' },
  { timestamp: '2020-01-31 12:00' },
  { timestamp: '2020-01-31T12:00:00.123456+05:30' },
  { timestamp: '2020-01-31T12:00:00+0100' },
])('accepts an event to import with %j', (changes) => {
  expect(checkEvent(changes)).toBe('event');
});

test.each([
  [{ event: undefined }, 'event', 'missing'],
  [{ event: '' }, 'event', 'empty'],
  [{ event: 5 }, 'event', 'must be a string'],
  [{ distinct_id: undefined }, 'distinct_id', 'missing'],
  [{ distinct_id: null }, 'distinct_id', 'missing'],
  [{ distinct_id: '  ' }, 'distinct_id', 'empty'],
  [{ distinct_id: '', properties: { distinct_id: 'b' } }, 'distinct_id', 'empty'],
  [{ distinct_id: { a: 1 } }, 'distinct_id', 'must be a string or a number'],
  [{ timestamp: undefined }, 'timestamp', 'missing'],
  [{ timestamp: 1_580_472_000 }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: 'yesterday' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: '2021-02-29' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: '2020-01-31T25:00:00Z' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ properties: [] }, 'properties', 'must be an object'],
  [{ properties: null }, 'properties', 'must be an object'],
  [{ $set: 'a' }, '$set', 'must be an object'],
  [{ uuid: 'nope' }, 'uuid', 'must be a UUID'],
  [{ uuid: 5 }, 'uuid', 'must be a UUID'],
])('rejects an event to import with %j', (changes, field, reason) => {
  expect(checkEvent(changes)).toEqual([field, reason]);
});

test.each([
  ['', 'blank'],
  [' \t', 'blank'],
  ['{', [null, 'not valid JSON']],
  ['[]', [null, 'not a JSON object (one event per line)']],
  ['null', [null, 'not a JSON object (one event per line)']],
  [Buffer.from([0x7b, 0xff, 0x7d]), [null, 'not valid UTF-8']],
  [null, [null, 'too large for a request']],
])('checks the line %j of an import file', (line, expected) => {
  expect(check(line)).toEqual(expected);
});

const add = (text: string, line = 1) => addUuid(JSON.parse(text) as Record<string, unknown>, text, line);
const uuidOf = (text: string, line = 1) => (JSON.parse(add(text, line)) as { uuid: string }).uuid;

test('does not change the text of an event that has a uuid', () => {
  const text = '{"event":"a", "uuid":"0190a6c1-0000-7000-8000-00000000abcd"}';
  expect(add(text)).toBe(text);
});

test('always derives the same uuid from the same text and line number', () => {
  const text = '{"event":"a"}';
  expect(uuidOf(text)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidOf(text)).toBe(uuidOf(text));
  expect(new Set([uuidOf(text, 1), uuidOf(text, 2), uuidOf('{"event":"b"}', 1)]).size).toBe(3);
});

test('imports a number unchanged even if JavaScript cannot represent it', () => {
  expect(add('{"event":"a","properties":{"n":12345678901234567890.10}}')).toContain('12345678901234567890.10');
});

test.each(['null', '""'])('gives an event with the uuid %s a new uuid', (none) => {
  expect(uuidOf(`{"event":"a","uuid":${none}}`)).toMatch(/-8/);
});
