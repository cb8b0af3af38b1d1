import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from '../build/programs.ts';
import { generatePages } from './docs.ts';
import { readRepositoryTexts, type SourceFile } from './documents.ts';
import { readRegistrations } from './metrics-page.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

let pages: SourceFile[];

beforeAll(async () => {
  ({ pages } = await readRepositoryTexts(root));
});

test('generated pages are identical to the output of `npm run docs`', async () => {
  for (const { path, text } of await generatePages(root)) {
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  }
});

test('commands in the documents exist in package.json or the build, and do not prompt for input', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  /** npm's own commands, which are documented for users of the client library. */
  const commandsOfNpm = ['install', 'pack'];
  const known = new Set([
    ...commandsOfNpm,
    ...Object.keys(scripts),
    ...Object.keys(programs(root)).map((name) => `dist/${name}.mjs`),
  ]);
  const written = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm (?:run )?([a-z]+)|node (dist\/[\w-]+\.mjs)/g)].map(([, script, program]) => ({
      path,
      command: script ?? program ?? '',
    })),
  );
  expect(written.length).toBeGreaterThan(20);
  expect(written.filter(({ command }) => !known.has(command))).toEqual([]);
  expect(pages.filter(({ text }) => text.includes('npx pnpm')).map(({ path }) => path)).toEqual([]);
});

describe('readRegistrations', () => {
  test("finds a metric's name, help text and labels, regardless of formatting", () => {
    const source = `
      const labels = ['topic', 'group'] as const;
      metrics.counter('a_total', 'Things, (some)', labels);
      options.metrics?.gauge("b", "It's", []);
      metrics.histogram(
        'c_seconds',
        'Time',
        [0.1, 1],
        ['step'],
      );
      const rows = [['millrace_d', 'Rows', count],];`;
    expect(readRegistrations(source, 'file.ts')).toEqual([
      { name: 'millrace_d', type: 'gauge', help: 'Rows', labels: [] },
      { name: 'a_total', type: 'counter', help: 'Things, (some)', labels: ['topic', 'group'] },
      { name: 'b', type: 'gauge', help: "It's", labels: [] },
      { name: 'c_seconds', type: 'histogram', help: 'Time', labels: ['step'] },
    ]);
  });

  test('throws for a metric name that is not a literal, so that no metric is missing', () => {
    expect(() => readRegistrations('metrics.counter(name, help)', 'file.ts')).toThrow('file.ts');
    expect(() => readRegistrations("metrics.counter('a_total', 'Things, ' + 'some')", 'file.ts')).toThrow('file.ts');
  });
});
