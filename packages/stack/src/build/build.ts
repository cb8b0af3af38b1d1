import { join } from 'node:path';
import type { Command } from '../command.ts';
import { buildPrograms } from './build-programs.ts';
import { programs } from './programs.ts';

/**
 * `pnpm build`: every service and the command-line tool in `dist/`, with the migrations. The folder is all an image
 * needs beside Node: `node dist/ingest-gateway.mjs`.
 */
export const main: Command = async ({ progress, root }) => {
  await progress.step(`Building ${Object.keys(programs(root)).join(', ')}`, () =>
    buildPrograms(root, join(root, 'dist')),
  );
  return 0;
};
