import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlePrograms } from './bundle-programs.ts';
import { programs } from './programs.ts';

/**
 * Every program and the migrations, in a folder that is all an image needs beside Node.
 * @param outDirectory emptied first
 * @returns the files of which something is in the programs, by their paths from the root
 */
export async function buildPrograms(root: string, outDirectory: string): Promise<string[]> {
  const bundled = await bundlePrograms(root, programs(root), outDirectory);
  await cp(join(root, 'prisma'), join(outDirectory, 'prisma'), { recursive: true });
  return bundled;
}
