import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { libraryFolder, writeLibrary } from '@millrace/browser/bundle';
import { bundlePrograms } from './bundle-programs.ts';
import { programs, services } from './programs.ts';
import { serviceFile, writeEntries } from './write-entries.ts';

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
