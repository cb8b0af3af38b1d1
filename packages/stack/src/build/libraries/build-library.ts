import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleLibrary as bundleScript } from '@millrace/browser/bundle-library';
import { runProgram } from '../../process/run-program.ts';
import { bundleModules, bundleUmd } from './bundle-modules.ts';
import { entriesOf, type Library, packedManifests, type SourceManifest } from './libraries.ts';

/**
 * Makes of a library the package that applications install: `npm pack <outDirectory>`.
 *
 * - `esm/` modules, with what they share in chunks; `umd/` one file for each entry, for `require` and for pages;
 * - `types/`, the same again for `require`; stubs for resolvers that know no `exports`;
 * - a manifest of its own, README and licence.
 *
 * @param outDirectory emptied first
 */
export async function buildLibrary(root: string, library: Library, outDirectory: string): Promise<void> {
  const source = join(root, library.directory);
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as SourceManifest;
  const entries = entriesOf(manifest);

  await rm(outDirectory, { recursive: true, force: true });
  await mkdir(join(outDirectory, 'umd'), { recursive: true });
  const target = { ...library, version: manifest.version, outDirectory };
  await Promise.all([
    bundleModules(source, entries, target).then((exported) => bundleUmd(source, entries, target, exported)),
    declareTypes(root, library.directory, entries, outDirectory),
    cp(join(source, 'README.md'), join(outDirectory, 'README.md')),
    cp(join(root, 'LICENSE'), join(outDirectory, 'LICENSE')),
    library.script === './array.js' ? writeScript(outDirectory) : undefined,
  ]);
  const manifests = packedManifests(manifest, library, entries);
  for (const [path, content] of Object.entries(manifests)) {
    await mkdir(join(outDirectory, path, '..'), { recursive: true });
    await writeFile(join(outDirectory, path), `${JSON.stringify(content, null, 2)}\n`);
  }
}

/** The script that the gateway serves too. */
async function writeScript(outDirectory: string): Promise<void> {
  const { code, sourceMap } = await bundleScript('array.js');
  await writeFile(join(outDirectory, 'array.js'), `${code.trimEnd()}\n//# sourceMappingURL=array.js.map\n`);
  await writeFile(join(outDirectory, 'array.js.map'), sourceMap);
}

/** Writes the declarations of the entries, and of what they name, to `types/`, and again for `require` to `umd/types/`. */
async function declareTypes(
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
