import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface TestFile {
  path: string;
  context: { config: { rootDir: string } };
}
interface Sequencer {
  sort(tests: TestFile[]): TestFile[];
}
const { default: ShuffledFiles } = (await import(new URL('./shuffled-files.mjs', import.meta.url).href)) as {
  default: new (options: object) => Sequencer;
};

const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
const slow = [
  'packages/insights/tests/clickhouse.long.test.ts',
  'packages/console/tests/every-page.chromium.sampled.test.ts',
];
const others = Array.from({ length: 20 }, (_, number) => `packages/example/${number}.test.ts`);

function order(seed: number, rootDir = root): string[] {
  const sequencer = new ShuffledFiles({ globalConfig: { seed }, contexts: [] });
  const tests = [...others.slice(0, 10), ...slow.toReversed(), ...others.slice(10)];
  const sorted = sequencer.sort(tests.map((path) => ({ path: join(rootDir, path), context: { config: { rootDir } } })));
  return sorted.map(({ path }) => path.slice(rootDir.length + 1));
}

test('starts the slowest test files first, and all others in an order that depends only on the seed', () => {
  const first = order(1);
  expect(first.slice(0, 2)).toEqual(slow);
  expect(first.slice(2).sort()).toEqual([...others].sort());
  expect(order(1)).toEqual(first);
  expect(order(2)).not.toEqual(first);
  expect(order(2).slice(0, 2)).toEqual(slow);
});

test('throws if a file in the list of slow test files does not exist, and names the file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'shuffled-files-'));
  try {
    const [present = '', absent = ''] = slow;
    mkdirSync(dirname(join(directory, present)), { recursive: true });
    writeFileSync(join(directory, present), '');
    expect(() => order(1, directory)).toThrow(absent);
    expect(() => order(1, directory)).not.toThrow(present);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
