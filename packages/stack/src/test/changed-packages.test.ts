import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { changedPackages } from './changed-packages.ts';

let root: string;
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-changed-'));
  const packages: [folder: string, name: string, uses: string[]][] = [
    ['packages/db', 'db', []],
    ['packages/flags', 'flags', ['db']],
    ['packages/stack', 'stack', []],
    ['packages/console', 'console', []],
    ['services/gateway', 'gateway', ['flags']],
    ['services/worker', 'worker', []],
    ['test-e2e', 'testing', []],
  ];
  for (const [folder, name, uses] of packages) {
    const devDependencies = Object.fromEntries(uses.map((used) => [used, 'workspace:*']));
    write(`${folder}/package.json`, JSON.stringify({ name, devDependencies }));
  }
  write('deploy/page.txt', 'old');
  write('prisma/schema.prisma', 'old');
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'First');
});
afterEach(() => rmSync(root, { recursive: true }));

test.each([
  ['nothing when nothing changed', [], []],
  ['the packages that import a changed one', ['packages/flags/a.ts'], ['packages/flags', 'services/gateway']],
  [
    'the packages that import a changed one indirectly',
    ['packages/db/a.ts'],
    ['packages/db', 'packages/flags', 'services/gateway'],
  ],
  [
    'the packages that read the tables',
    ['prisma/schema.prisma'],
    ['packages/db', 'packages/flags', 'services/gateway'],
  ],
])('changed packages: lists %s', (_, files, expected) => {
  for (const file of files) write(file, 'new');
  const startingPrograms = expected.includes('services/gateway')
    ? ['packages/console', 'packages/stack', 'test-e2e']
    : [];
  expect(changedPackages(root, 'HEAD')).toEqual([...expected, ...startingPrograms].sort());
});

test('changed packages: lists only the packages whose tests read a document that changed', () => {
  write('deploy/page.txt', 'new');
  expect(changedPackages(root, 'HEAD')).toEqual(['packages/stack', 'test-e2e']);
});

test('changed packages: lists every package if a file that affects the whole repository changed', () => {
  write('pnpm-lock.yaml', 'new');
  expect(changedPackages(root, 'HEAD')).toHaveLength(7);
});

test('changed packages: reports a commit that git does not know', () => {
  expect(() => changedPackages(root, 'missing')).toThrow('--changed: git could not list the changes since missing');
});
