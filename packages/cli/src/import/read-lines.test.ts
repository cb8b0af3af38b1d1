import { type Line, readLines } from './read-lines.ts';

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
    'a last line without its break, or with it',
    ['a\nb\n'],
    [
      [1, 'a', 2],
      [2, 'b', 4],
    ],
  ],
  [
    'line breaks of Windows',
    ['a\r\nb\r\n'],
    [
      [1, 'a', 3],
      [2, 'b', 6],
    ],
  ],
  [
    'blank lines, which count',
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
] as [string, string[], unknown[]][])('%s', async (_name, chunks, expected) => {
  expect(await read(chunks)).toEqual(expected);
});

test('a line that is too long is passed over, and those after it keep number and place', async () => {
  expect(await read(['ok\n1234', '567890', '12\nok'], 8)).toEqual([
    [1, 'ok', 3],
    [2, null, 16],
    [3, 'ok', 18],
  ]);
});
