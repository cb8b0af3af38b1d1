// Programs as plain JavaScript: bundles of them, and the files by which services are begun.
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { libraryFolder, writeLibrary } from '@millrace/browser/bundle';
import { build, stop } from 'esbuild';
import { carriedPatterns, carryPackages } from './carried-packages.ts';
import { programs, services } from './programs.ts';

/**
 * Every program, the browser library that the gateway serves, and the migrations, in a folder that is all an image needs beside Node.
 * @param outDirectory emptied first
 * @returns the files of which something is in the programs, by their paths from the root
 */
export async function buildPrograms(root: string, outDirectory: string): Promise<string[]> {
  const all = programs(root);
  const begun = services.filter((name) => name in all);
  const files = Object.fromEntries(
    Object.entries(all).map(([name, path]) => [begun.some((one) => one === name) ? serviceFile(name) : name, path]),
  );
  const bundled = await bundlePrograms(root, files, outDirectory);
  await writeEntries(outDirectory, begun);
  await writeLibrary(join(outDirectory, libraryFolder));
  await cp(join(root, 'prisma'), join(outDirectory, 'prisma'), { recursive: true });
  return bundled;
}

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

/** What a service itself is compiled to; the file of its name begins it. */
export const serviceFile = (name: string) => `${name}-service`;

/**
 * The files that are run: `<name>.mjs` of each service. Process 1 of a container hears only the signals that it has asked for, and
 * reading a service in takes longer than asking: a pod that is deleted in its first second would be waited for until its grace is over.
 * From `runService` on the service hears them itself.
 */
export async function writeEntries(outDirectory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => writeFile(join(outDirectory, `${name}.mjs`), entryOf(name))));
}

function entryOf(name: string): string {
  return `const leave = () => process.exit(0);
process.on('SIGTERM', leave).on('SIGINT', leave);
await import('./${serviceFile(name)}.mjs');
`;
}
