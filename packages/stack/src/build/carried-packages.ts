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

/** Copies them to `<outDirectory>/node_modules`, where the programs find them. */
export async function carryPackages(root: string, outDirectory: string): Promise<void> {
  for (const [name, dependent] of Object.entries(carried)) {
    const source = realpathSync(join(root, dependent, 'node_modules', name));
    const target = join(outDirectory, 'node_modules', name);
    await cp(source, target, { recursive: true, dereference: true });
    const { optionalDependencies = {} } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
      optionalDependencies?: Record<string, string>;
    };
    for (const platformBuild of Object.keys(optionalDependencies)) {
      const from = join(dirname(dirname(source)), platformBuild);
      if (!existsSync(from)) continue;
      await cp(from, join(outDirectory, 'node_modules', platformBuild), { recursive: true, dereference: true });
    }
  }
}
