// Writes and reads `connection.json`, which contains the running system's URLs and keys for scripts.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Demo } from './demo.ts';

/**
 * Everything that a script needs to use the running system. The `millrace` command also reads this file
 * (packages/cli/src/running-system.ts).
 */
export interface Connection extends Demo {
  ingestUrl: string;
  apiUrl: string;
  /** URL of a page that uses the browser library. */
  shopUrl: string;
  /** The settings of the services, for commands that access the database and the event log directly. */
  settings: Record<string, string>;
}

/**
 * Manages `connection.json`. The file exists while the system is ready. It contains keys, so only its owner can read
 * it.
 */
export function createConnectionFile(directory: string) {
  const file = join(directory, 'connection.json');
  return {
    path: file,
    write(connection: Connection) {
      const written = `${file}.new`;
      const { ingestUrl, apiUrl, shopUrl, organizationId, projectId, environmentId } = connection;
      const { projectApiKey, personalApiKey, settings } = connection;
      const addresses = { ingestUrl, apiUrl, shopUrl };
      const keys = { projectApiKey, personalApiKey };
      const content = { ...addresses, organizationId, projectId, environmentId, ...keys, settings };
      writeFileSync(written, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
      // Write to a different file and rename it, so that an incomplete file is never read.
      renameSync(written, file);
    },
    /** Reads the file. Returns null if no system is ready. */
    read: (): Connection | null => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null),
    remove: () => rmSync(file, { force: true }),
  };
}
