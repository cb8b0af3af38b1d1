import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from '../build/programs.ts';
import { generatedPages } from './docs.ts';
import { repositoryTexts, type SourceFile } from './documents.ts';
import { readRegistrations } from './metrics-page.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

let pages: SourceFile[];

beforeAll(async () => {
  ({ pages } = await repositoryTexts(root));
});

test('pages made from the code are what `npm run docs` would write', async () => {
  for (const { path, text } of await generatedPages(root)) {
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  }
});

test('commands of the documents are scripts of package.json, programs of the build, and wait for nobody', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  /** npm's own, of those who use the client library. */
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

describe('reading registrations', () => {
  test('names, helps and labels, wherever they are written', () => {
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

  test('a name that cannot be read is an error, so that none is missing', () => {
    expect(() => readRegistrations('metrics.counter(name, help)', 'file.ts')).toThrow('file.ts');
    expect(() => readRegistrations("metrics.counter('a_total', 'Things, ' + 'some')", 'file.ts')).toThrow('file.ts');
  });
});
