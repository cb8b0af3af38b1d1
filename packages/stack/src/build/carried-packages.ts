import { existsSync, realpathSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Packages that cannot become part of a bundle, and who depends on them: they hold machine code or WebAssembly files, or
 * are looked up by path while running. They are copied beside the programs as they are.
 */
const carried: Record<string, string> = {
  // The produce request is put in the place of its own (packages/event-log, kafka/kafkajs-internals).
  kafkajs: 'packages/event-log',
  '@node-rs/crc32': 'packages/event-log',
  '@prisma/schema-engine-wasm': 'packages/db',
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
