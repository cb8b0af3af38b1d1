import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { generatedPages } from './generated-pages.ts';

/** `npm run docs`: writes the pages that are made from the code. A test fails when one of them is stale. */
export const main: Command = async ({ progress, root }) => {
  for (const { path, text } of await generatedPages(root)) {
    await writeFile(join(root, path), text);
    progress.print(`✓ ${path}`);
  }
  return 0;
};
