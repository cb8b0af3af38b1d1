// Prevents two systems from using the same data directory.

import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupProblem } from '../command.ts';
import { isRunning, readProcessRecord, writeProcessRecord } from '../servers/server-process.ts';

/** A substring of the command line of `npm start` (see package.json). */
const marker = 'bin/start.mjs';

/** Locks a data directory, and returns a function that releases it. @throws SetupProblem if another system uses it */
export function lockInstance(directory: string): () => void {
  const lock = join(directory, 'start.lock');
  const own = `${lock}.${process.pid}`;
  writeProcessRecord(own, { pid: process.pid, marker });
  try {
    for (;;) {
      try {
        // Create the lock as a link, so that it never exists without its content.
        linkSync(own, lock);
        return () => rmSync(lock, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = readProcessRecord(lock);
      if (holder && holder.pid !== process.pid && isRunning(holder.pid, holder.marker)) {
        throw new SetupProblem(
          `Millrace is already running with the data in ${directory} (process ${holder.pid}). Stop it with Ctrl-C in ` +
            'its terminal, or set MILLRACE_DATA_DIR to run a second instance.',
        );
      }
      rmSync(lock, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}
