// `pnpm build`: bundles the services, the command-line client and the libraries for web pages.

import { existsSync, realpathSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { libraryFolder, writeLibrary } from '@millrace/browser/bundle';
import { consoleFolder, writeConsole } from '@millrace/console/bundle';
import { build, stop } from 'esbuild';
import type { Command } from '../command.ts';
import { buildLibrary, libraries } from './libraries/libraries.ts';
import { allInOne, programs, services } from './programs.ts';

/**
 * `pnpm build`: builds every service and the command-line client into `dist/`, together with the migrations. An image
 * needs only this directory and Node.js (`node dist/ingest-gateway.mjs`). Also builds each library for web pages into
 * the library's `dist/`, from which `npm pack` creates the package.
 */
export const main: Command = async ({ progress, root }) => {
  await progress.step(`Building ${Object.keys(programs(root)).join(', ')}`, () =>
    buildPrograms(root, join(root, 'dist')),
  );
  await progress.step(`Building ${libraries.map(({ directory }) => directory).join(', ')}`, async () => {
    for (const library of libraries) await buildLibrary(root, library, join(root, library.directory, 'dist'));
    // Stop esbuild's child process, which would keep this process alive.
    await stop();
  });
  return 0;
};

/**
 * Builds every program, the browser library that the gateway serves, the console and the migrations into one directory.
 * @param outDirectory the target directory, which is emptied first
 * @returns the source files of all programs, as paths relative to the root
 */
export async function buildPrograms(root: string, outDirectory: string): Promise<string[]> {
  const all = programs(root);
  const started: string[] = [...services, allInOne].filter((name) => name in all);
  const files = Object.fromEntries(
    Object.entries(all).map(([name, path]) => [started.includes(name) ? serviceFile(name) : name, path]),
  );
  const bundled = await bundlePrograms(root, files, outDirectory);
  await writeEntries(outDirectory, started);
  await writeLibrary(join(outDirectory, libraryFolder));
  const pages = await writeConsole(join(outDirectory, consoleFolder), { root });
  await cp(join(root, 'prisma'), join(outDirectory, 'prisma'), { recursive: true });
  return [...bundled, ...pages.bundled];
}

/** Bundled CommonJS libraries call `require`, which does not exist in an ES module. */
const requireForLibraries = `import { createRequire as createRequireForLibraries } from 'node:module';
const require = createRequireForLibraries(import.meta.url);`;

/**
 * Bundles programs with everything they import into plain JavaScript: `<outDirectory>/<name>.mjs`, shared code in
 * `chunks/`, and packages that cannot be bundled in `node_modules/`. The result needs only Node.js to run.
 * @param entries the paths of the programs relative to the root, by program name
 * @param outDirectory the target directory, which is emptied first
 * @returns the source files of all programs, as paths relative to the root
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
    // With source maps, stack traces show source files and lines. The bundle does not contain the sources.
    sourcemap: 'linked',
    sourcesContent: false,
    external: unbundledPatterns,
    banner: { js: requireForLibraries },
    logLevel: 'warning',
    metafile: true,
  });
  // Stop esbuild's child process, which would keep its memory and keep this process alive.
  await stop();
  await copyUnbundledPackages(root, outDirectory);
  // The charts in report emails use these fonts.
  await cp(join(root, 'packages/reports/fonts'), join(outDirectory, 'fonts'), { recursive: true });
  return [...new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)))].sort();
}

export const serviceFile = (name: string) => `${name}-service`;

/**
 * Writes a file `<name>.mjs` for each service, which handles signals and then loads the service. In a container,
 * process 1 receives only signals for which it has a handler. Without this file, a pod that is deleted while its
 * service is loading would end only after its grace period. `runProcess` replaces the handlers when the service starts.
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

/**
 * Packages that cannot be bundled, because they contain native code or WebAssembly files or are found by path at run
 * time. Each one is listed with the packages that depend on it. All of them are copied to `node_modules/`.
 */
const carried: Record<string, string> = {
  // packages/event-log replaces the produce request within kafkajs (kafka/kafkajs-internals).
  kafkajs: 'packages/event-log',
  '@node-rs/crc32': 'packages/event-log',
  '@prisma/schema-engine-wasm': 'packages/db',
  '@resvg/resvg-wasm': 'packages/reports',
  '@posthog/hogql-parser': 'packages/insights',
};

/** esbuild patterns for packages that are not bundled, and for their platform-specific builds. */
export const unbundledPatterns = Object.keys(carried).flatMap((name) => [name, `${name}/*`, `${name}-*`]);

/** Returns the installed directory of each copied package, by name. */
export function listUnbundledPackages(root: string): Map<string, string> {
  return new Map(
    Object.entries(carried).map(([name, dependent]) => [
      name,
      realpathSync(join(root, dependent, 'node_modules', name)),
    ]),
  );
}

/**
 * Returns the names and versions of a package's platform-specific builds. At run time, the package loads one of them.
 */
export async function readPlatformBuilds(source: string): Promise<Record<string, string>> {
  const { optionalDependencies = {} } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
    optionalDependencies?: Record<string, string>;
  };
  return optionalDependencies;
}

/** Copies the unbundled packages and their builds for this machine to `<outDirectory>/node_modules`. */
export async function copyUnbundledPackages(root: string, outDirectory: string): Promise<void> {
  for (const [name, source] of listUnbundledPackages(root)) {
    const target = join(outDirectory, 'node_modules', name);
    await cp(source, target, { recursive: true, dereference: true });
    for (const platformBuild of Object.keys(await readPlatformBuilds(source))) {
      const from = join(dirname(dirname(source)), platformBuild);
      if (!existsSync(from)) continue;
      await cp(from, join(outDirectory, 'node_modules', platformBuild), { recursive: true, dereference: true });
    }
  }
}
