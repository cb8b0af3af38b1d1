import { join } from 'node:path';
import { stop } from 'esbuild';
import type { Command } from '../command.ts';
import { buildPrograms } from './build-programs.ts';
import { buildLibrary } from './libraries/build-library.ts';
import { libraries } from './libraries/libraries.ts';
import { programs } from './programs.ts';

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
