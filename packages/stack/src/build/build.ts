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
 * `pnpm build`: every service and the command-line tool in `dist/`, with the migrations. The folder is all an image
 * needs beside Node: `node dist/ingest-gateway.mjs`. And the libraries for web pages, each in a `dist/` of its own, which
 * `npm pack` takes.
 */
export const main: Command = async ({ progress, root }) => {
  await progress.step(`Building ${Object.keys(programs(root)).join(', ')}`, () =>
    buildPrograms(root, join(root, 'dist')),
  );
  await progress.step(`Building ${libraries.map(({ directory }) => directory).join(', ')}`, async () => {
    for (const library of libraries) await buildLibrary(root, library, join(root, library.directory, 'dist'));
    // The compiler's own process would stay as long as this one.
    await stop();
  });
  return 0;
};

// Programs as plain JavaScript: bundles of them, and the files by which services are begun.
/**
 * Every program, the browser library that the gateway serves, the console, and the migrations, in a folder that is all an image needs beside Node.
 * @param outDirectory emptied first
 * @returns the files of which something is in the programs, by their paths from the root
 */
export async function buildPrograms(root: string, outDirectory: string): Promise<string[]> {
  const all = programs(root);
  const begun: string[] = [...services, allInOne].filter((name) => name in all);
  const files = Object.fromEntries(
    Object.entries(all).map(([name, path]) => [begun.includes(name) ? serviceFile(name) : name, path]),
  );
  const bundled = await bundlePrograms(root, files, outDirectory);
  await writeEntries(outDirectory, begun);
  await writeLibrary(join(outDirectory, libraryFolder));
  const pages = await writeConsole(join(outDirectory, consoleFolder), { root });
  await cp(join(root, 'prisma'), join(outDirectory, 'prisma'), { recursive: true });
  return [...bundled, ...pages.bundled];
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
  // Pictures of reports are written in them.
  await cp(join(root, 'packages/insights/fonts'), join(outDirectory, 'fonts'), { recursive: true });
  return [...new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)))].sort();
}

/** What a service itself is compiled to; the file of its name begins it. */
export const serviceFile = (name: string) => `${name}-service`;

/**
 * The files that are run: `<name>.mjs` of each service. Process 1 of a container hears only the signals that it has asked for, and
 * reading a service in takes longer than asking: a pod that is deleted in its first second would be waited for until its grace is over.
 * From `runProcess` on the service hears them itself.
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
 * Packages that cannot become part of a bundle, and who depends on them: they hold machine code or WebAssembly files, or
 * are looked up by path while running. They are copied beside the programs as they are.
 */
const carried: Record<string, string> = {
  // The produce request is put in the place of its own (packages/event-log, kafka/kafkajs-internals).
  kafkajs: 'packages/event-log',
  '@node-rs/crc32': 'packages/event-log',
  '@prisma/schema-engine-wasm': 'packages/db',
  '@resvg/resvg-wasm': 'packages/insights',
  '@posthog/hogql-parser': 'packages/insights',
};

/** For esbuild: these, and their builds for single platforms, stay imports. */
export const carriedPatterns = Object.keys(carried).flatMap((name) => [name, `${name}/*`, `${name}-*`]);

/** Where the packages that are carried are installed, by name. */
export function carriedPackages(root: string): Map<string, string> {
  return new Map(
    Object.entries(carried).map(([name, dependent]) => [
      name,
      realpathSync(join(root, dependent, 'node_modules', name)),
    ]),
  );
}

/** The builds for single platforms that a carried package chooses from while running: version by name. */
export async function platformBuilds(source: string): Promise<Record<string, string>> {
  const { optionalDependencies = {} } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
    optionalDependencies?: Record<string, string>;
  };
  return optionalDependencies;
}

/** Copies them to `<outDirectory>/node_modules`, where the programs find them, with their builds for this machine. */
export async function carryPackages(root: string, outDirectory: string): Promise<void> {
  for (const [name, source] of carriedPackages(root)) {
    const target = join(outDirectory, 'node_modules', name);
    await cp(source, target, { recursive: true, dereference: true });
    for (const platformBuild of Object.keys(await platformBuilds(source))) {
      const from = join(dirname(dirname(source)), platformBuild);
      if (!existsSync(from)) continue;
      await cp(from, join(outDirectory, 'node_modules', platformBuild), { recursive: true, dereference: true });
    }
  }
}
