import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientGeneration } from './generate-client.mjs';
import { packageInstallation } from './install-packages.mjs';
import { createProgress } from './progress.mjs';
import { whileLocked } from './while-locked.mjs';

/**
 * Brings a clone to the point where its TypeScript runs: packages installed, database client generated. Does nothing,
 * and writes nothing, when both are up to date.
 *
 * @param {{ isQuiet: boolean }} options quiet: say something only when something goes wrong
 */
export async function prepare({ isQuiet }) {
  const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
  const progress = createProgress({ isQuiet });
  const parts = [packageInstallation(root), clientGeneration(root)];
  if (parts.some((part) => !part.isDone())) {
    await whileLocked(join(root, '.millrace'), progress, async () => {
      // Whoever held the lock before may have done it.
      for (const part of parts) if (!part.isDone()) await part.run(progress);
    });
  }
  return { root, progress };
}
