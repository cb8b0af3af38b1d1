import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { bundlePrograms } from './bundle-programs.ts';
import { programs } from './programs.ts';

/**
 * `pnpm build`: every service and the command-line tool in `dist/`, with the migrations. The folder is all an image
 * needs beside Node: `node dist/ingest-gateway.mjs`.
 */
export const main: Command = async ({ progress, root }) => {
  const entries = programs(root);
  const dist = join(root, 'dist');
  await progress.step(`Building ${Object.keys(entries).join(', ')}`, async () => {
    await bundlePrograms(root, entries, dist);
    await cp(join(root, 'prisma'), join(dist, 'prisma'), { recursive: true });
  });
  return 0;
};
