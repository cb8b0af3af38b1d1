import { rm } from 'node:fs/promises';
import { build, stop } from 'esbuild';
import { carriedPatterns, carryPackages } from './carried-packages.ts';

/** Libraries written for `require` find it, wherever they end up. */
const requireForLibraries = `import { createRequire as createRequireForLibraries } from 'node:module';
const require = createRequireForLibraries(import.meta.url);`;

/**
 * Compiles programs to plain JavaScript with everything they import, libraries too: `<outDirectory>/<name>.mjs`, what
 * they share in `chunks/`, and what cannot be bundled in `node_modules/`. Needs nothing else but Node to run.
 *
 * @param entries path from the root by program name
 * @param outDirectory emptied first
 * @returns the files of which something is in them, by their paths from the root
 */
export async function bundlePrograms(
  root: string,
  entries: Record<string, string>,
  outDirectory: string,
): Promise<string[]> {
  await rm(outDirectory, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([name, path]) => ({ in: path, out: name })),
    outdir: outDirectory,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Stack traces name our files and lines; the text of the sources stays in the repository.
    sourcemap: 'linked',
    sourcesContent: false,
    external: carriedPatterns,
    banner: { js: requireForLibraries },
    logLevel: 'warning',
    metafile: true,
  });
  // The compiler's own process holds what it read, and would stay as long as this one.
  await stop();
  await carryPackages(root, outDirectory);
  return [...new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)))].sort();
}
