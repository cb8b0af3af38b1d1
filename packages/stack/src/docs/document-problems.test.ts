import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findDocumentProblems } from './documents.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'documents-'));
  await write('README.md', '');
  for (const folder of ['services', 'test-e2e', 'prisma', 'deploy', 'examples']) await mkdir(join(root, folder));
  await write('docs/rules.md', '# Rules\n\n## What a name does\n');
  await write('packages/one/src/rule.ts', '');
});
afterEach(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

test('reports no problems if the targets of all links and references in documents exist', async () => {
  await write('README.md', '[rules](docs/rules.md#what-a-name-does), [top](#here), `packages/one`\n\n# Here\n');
  const cited = '/** docs/rules.md, docs/rules.md#what-a-name-does, docs/rules.md, "What a name does" */';
  await write('packages/one/src/rule.ts', cited);
  expect(await findDocumentProblems(root)).toEqual([]);
});

test.each([
  ['README.md', '[rules](docs/other.md)', 'broken link docs/other.md'],
  ['README.md', '[rules](docs/rules.md#what-a-name-did)', 'broken link docs/rules.md#what-a-name-did'],
  ['docs/rules.md', '`packages/one/rule.ts`', 'mentions packages/one/rule.ts, which does not exist'],
  ['services/a.ts', '// docs/rule.md', 'refers to docs/rule.md, which does not exist'],
  ['prisma/a.sql', '-- docs/rules.md#name', 'refers to docs/rules.md#name, which does not exist'],
  [
    'services/a.ts',
    '/** docs/rules.md, "What a\n * name did" */',
    'refers to docs/rules.md, "What a name did", which does not exist',
  ],
  ['.settings.cjs', '// docs/rule.md', 'refers to docs/rule.md, which does not exist'],
])('reports a problem in a document for %s: %s', async (path, text, problem) => {
  await write(path, text);
  expect(await findDocumentProblems(root)).toEqual([`${path}: ${problem}`]);
});
