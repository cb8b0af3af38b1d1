import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleLibrary as bundleScript } from '@millrace/browser/bundle-library';
import { bundleModules, bundleUmd } from './bundle-modules.ts';
import { declareTypes } from './declare-types.ts';
import type { Library } from './libraries.ts';
import { entriesOf, packedManifests, type SourceManifest } from './packed-manifest.ts';

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
