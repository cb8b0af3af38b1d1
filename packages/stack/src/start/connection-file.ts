import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Demo } from './demo.ts';

/** What a script needs to talk to the running system; `millrace` reads it too (packages/cli/src/running-system.ts). */
export interface Connection extends Demo {
  ingestUrl: string;
  apiUrl: string;
  /** A page that uses the browser library. */
  shopUrl: string;
  /** What the services were started with, for commands that work on the database and the log themselves. */
  settings: Record<string, string>;
}

/** `connection.json` is there exactly while the system is ready. It holds keys: only its owner may read it. */
export function connectionFile(directory: string) {
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
      // Whoever waits for it never reads half of it.
      renameSync(written, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
