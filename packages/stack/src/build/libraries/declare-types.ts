import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram } from '../../process/run-program.ts';

/** Writes the declarations of the entries, and of what they name, to `types/`, and again for `require` to `umd/types/`. */
export async function declareTypes(
  root: string,
  directory: string,
  entries: Record<string, string>,
  outDirectory: string,
): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), 'millrace-types-'));
  try {
    await compile(root, directory, all);
    const source = join(all, directory.slice('packages/'.length));
    for (const path of await reachable(source, Object.values(entries))) {
      await writeDeclaration(join(source, path), join(outDirectory, 'types', path.slice('src/'.length)));
    }
  } finally {
    await rm(all, { recursive: true, force: true });
  }
  await cp(join(outDirectory, 'types'), join(outDirectory, 'umd/types'), { recursive: true });
}

async function compile(root: string, directory: string, outDirectory: string): Promise<void> {
  const { status, output } = await runProgram(
    join(root, 'node_modules/.bin/tsc'),
    [
      ...['-p', directory, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal'],
      ...['--rootDir', 'packages', '--outDir', outDirectory, '--pretty', 'false'],
    ],
    { cwd: root },
  );
  if (status !== 0) throw new Error(`The types of ${directory} cannot be declared:\n${output}`);
}

const relativeImport = /(['"])(\.{1,2}\/[^'"]+)\.ts\1/g;

/** The declarations that the entries name, and those these name. */
async function reachable(source: string, entries: string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const waiting = entries.map((path) => join(path.replace(/\.ts$/, '.d.ts')));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const text = await readFile(join(source, path), 'utf8');
    for (const [, , imported] of text.matchAll(relativeImport)) waiting.push(join(dirname(path), `${imported}.d.ts`));
  }
  return found;
}

const typeStar = /^export type \* from/gm;

/** As others import it: a declaration stands beside a `.js`, and compilers before TypeScript 5 know no `export type *`. */
async function writeDeclaration(from: string, to: string): Promise<void> {
  const text = await readFile(from, 'utf8');
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, text.replace(relativeImport, '$1$2.js$1').replace(typeStar, 'export * from'));
}
