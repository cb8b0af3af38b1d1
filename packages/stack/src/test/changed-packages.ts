import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupProblem } from '../command.ts';

/**
 * Patterns of files outside of packages, and the packages whose tests read them. A change to any other file outside of
 * packages affects all packages.
 */
const readBy: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^prisma\//, ['packages/db']],
  [/^(?:docs|deploy|\.github)\/|^[^/]+\.md$/, ['packages/stack', 'test-e2e']],
];

/**
 * Returns the directories of the packages whose tests may fail after a change since `commit`: changed packages,
 * packages that import them directly or indirectly, and packages whose tests start their programs. Uncommitted changes
 * count too.
 * @throws SetupProblem if git does not know the commit
 */
export function changedPackages(root: string, commit: string): string[] {
  const packages = readPackages(root);
  const affected = new Set<string>();
  for (const file of changedFiles(root, commit)) {
    const own = packages.find(({ folder }) => file.startsWith(`${folder}/`));
    if (own) affected.add(own.folder);
    const readers = readBy.find(([pattern]) => pattern.test(file))?.[1];
    for (const folder of readers ?? (own ? [] : packages.map(({ folder }) => folder))) affected.add(folder);
  }
  for (let size = -1; size !== affected.size; ) {
    size = affected.size;
    for (const { folder, uses } of packages) if (uses.some((used) => affected.has(used))) affected.add(folder);
  }
  return [...affected].sort();
}

function changedFiles(root: string, commit: string): string[] {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  try {
    const listed = git('diff', '--name-only', commit, '--') + git('ls-files', '--others', '--exclude-standard');
    return listed.split('\n').filter(Boolean);
  } catch (error) {
    throw new SetupProblem(`--changed: git could not list the changes since ${commit}`, { cause: error });
  }
}

interface Package {
  folder: string;
  /** Directories of packages that this package imports, or whose programs its tests start. */
  uses: string[];
}

function readPackages(root: string): Package[] {
  const folders = ['packages', 'services']
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
    .concat('test-e2e')
    .filter((folder) => existsSync(join(root, folder, 'package.json')));
  const manifests = folders.map((folder) => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
    return JSON.parse(text) as { name: string; dependencies?: object; devDependencies?: object };
  });
  const folderOf = new Map(manifests.map(({ name }, at) => [name, folders[at] as string]));
  const programs = folders.filter((folder) => folder.startsWith('services/'));
  return folders.map((folder, at) => {
    const names = Object.keys({ ...manifests[at]?.dependencies, ...manifests[at]?.devDependencies });
    const imported = names.flatMap((name) => folderOf.get(name) ?? []);
    return { folder, uses: startsPrograms.has(folder) ? [...imported, ...programs] : imported };
  });
}

/** Packages whose tests start compiled services without importing them. */
const startsPrograms = new Set(['packages/bench', 'packages/cli', 'packages/console', 'packages/stack', 'test-e2e']);
