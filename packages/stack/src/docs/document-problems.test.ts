import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { documentProblems } from './document-problems.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'documents-'));
  await write('README.md', '');
  for (const folder of ['services', 'test-e2e', 'prisma', 'deploy']) await mkdir(join(root, folder));
  await write('docs/rules.md', '# Rules\n\n## What a name does\n');
  await write('packages/one/src/rule.ts', '');
});
afterEach(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

test('what is there is no problem, by its whole path or the end of it', async () => {
  await write(
    'README.md',
    '[rules](docs/rules.md#what-a-name-does), [top](#here), `packages/one`, `src/rule.ts`\n\n# Here\n',
  );
  await write(
    'packages/one/src/rule.ts',
    '/** docs/rules.md, docs/rules.md#what-a-name-does, docs/rules.md, "What a name does", as the reference; RFC 5545 section 3.3. */',
  );
  expect(await documentProblems(root)).toEqual([]);
});

test.each([
  ['README.md', '[rules](docs/other.md)', 'the link docs/other.md leads nowhere'],
  ['README.md', '[rules](docs/rules.md#what-a-name-did)', 'the link docs/rules.md#what-a-name-did leads nowhere'],
  ['docs/rules.md', '`src/rules.ts`', 'names src/rules.ts, which is not there'],
  ['services/a.ts', '// docs/rule.md', 'cites docs/rule.md, which is not there'],
  ['prisma/a.sql', '-- docs/rules.md#name', 'cites docs/rules.md#name, which is not there'],
  ['services/a.ts', '/** other.md */', 'cites other.md, which is not there'],
  [
    'services/a.ts',
    '/** docs/rules.md, "What a\n * name did" */',
    'cites docs/rules.md#what-a-name-did, which is not there',
  ],
  ['services/a.ts', '/** the reference section 2 */', 'cites section 2, which is not in the repository'],
  ['services/a.ts', '/** by reference\n * 2.1 */', 'cites reference 2.1, which is not in the repository'],
  ['services/a.ts', '/** contract rows 1 and 2 */', 'cites contract rows 1, which is not in the repository'],
  ['.settings.cjs', '// docs/rule.md', 'cites docs/rule.md, which is not there'],
  ['README.md', 'see docs/rules.md, "What a name did"', 'cites docs/rules.md#what-a-name-did, which is not there'],
  ['docs/rules.md', 'see `contract/api.md`', 'cites contract/api.md, which is not in the repository'],
])('%s: %s', async (path, text, problem) => {
  await write(path, text);
  expect(await documentProblems(root)).toEqual([`${path}: ${problem}`]);
});
