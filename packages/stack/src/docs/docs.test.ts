import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programs } from '../build/programs.ts';
import { citationsIn } from './citations-in.ts';
import { generatedPages } from './generated-pages.ts';
import { anchorOf, headingsOf } from './headings-of.ts';
import { readRegistrations } from './read-registrations.ts';
import { type SourceFile, sourceFiles } from './source-files.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
const atTheTop = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

let pages: SourceFile[];

beforeAll(async () => {
  const top = atTheTop.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') }));
  pages = [...(await Promise.all(top)), ...(await sourceFiles(root, ['docs'], ['.md']))];
});

test('pages made from the code are what `npm run docs` would write', async () => {
  for (const { path, text } of await generatedPages(root)) {
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  }
});

test('every link leads to a file, and to a heading where it names one', () => {
  expect(pages.flatMap((page) => linksOf(page).filter((link) => !leadsSomewhere(page, link)))).toEqual([]);
});

test('every path of the repository that a document names is there, whole or without its first folders', async () => {
  const sources = await sourceFiles(
    root,
    ['packages', 'services', 'test-e2e', 'prisma', 'deploy'],
    ['.ts', '.mjs', '.sql'],
  );
  const isThere = (named: string) =>
    plannedPaths.has(named) || existsSync(join(root, named)) || sources.some(({ path }) => path.endsWith(`/${named}`));
  const missing = pages.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /`((?:packages|services|test-e2e|prisma|deploy|docs)\/[\w./-]*\w|[\w/-]+\/[\w.-]+\.(?:ts|sql))\/?`/g,
      ),
    ]
      .map(([, named = '']) => named)
      .filter((named) => !isThere(named))
      .map((named) => `${path}: ${named}`),
  );
  expect(missing).toEqual([]);
});

/** Named by a document because they are not there. */
const plannedPaths = new Set(['packages/browser', 'packages/react']);

test('every citation of a document in the source names a file, and a heading, that is there', async () => {
  const sources = await sourceFiles(root, ['packages', 'services', 'test-e2e', 'prisma'], ['.ts', '.mjs', '.sql']);
  const broken = sources
    .filter(({ path }) => !path.startsWith('packages/stack/src/docs/'))
    .flatMap(({ path, text }) =>
      citationsIn(text)
        .filter(({ file, heading }) => {
          const page = pages.find((candidate) => candidate.path === file);
          return page === undefined || (heading !== null && !headingsOf(page.text).includes(heading));
        })
        .map(({ file, heading }) => `${path}: ${file} ${heading ?? ''}`),
    );
  expect(broken).toEqual([]);
});

test('texts outside the repository that the source cites are explained in docs/sources.md', async () => {
  const sources = await sourceFiles(root, ['packages', 'services', 'test-e2e', 'prisma'], ['.ts', '.mjs', '.sql']);
  const cited = sources.flatMap(
    ({ text }) => text.match(/\b(?:reference|contract|design)\/[a-z-]+\.(?:md|json)/g) ?? [],
  );
  const explained = pages.find(({ path }) => path === 'docs/sources.md')?.text ?? '';
  expect([...new Set(cited)].filter((text) => !explained.includes(`\`${text}\``))).toEqual([]);
});

test('commands of the documents are scripts of package.json, programs of the build, and wait for nobody', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const known = new Set([...Object.keys(scripts), ...Object.keys(programs(root)).map((name) => `dist/${name}.mjs`)]);
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

test('commands of `millrace` that the documents name exist', async () => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/(?:dist\/millrace\.mjs|`millrace) ([a-z]+(?:-[a-z]+)*)/g)].map(([, name = '']) => name),
  );
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'millrace', '--', '--help'], { cwd: root });
  const offered = [...stdout.matchAll(/^ {2}([a-z-]+)(?:\|\S+)?[ \n]/gm)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(5);
  expect([...new Set(named)].filter((name) => !offered.includes(name))).toEqual([]);
}, 120_000);

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
  });
});

function linksOf({ text }: SourceFile): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}

function leadsSomewhere({ path }: SourceFile, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  if (anchor === undefined) return existsSync(join(root, target));
  const page = pages.find((candidate) => candidate.path === target);
  return page !== undefined && headingsOf(page.text).some((heading) => anchorOf(heading) === anchor);
}
