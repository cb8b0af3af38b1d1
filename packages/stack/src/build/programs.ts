// The programs to build, and their source files.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The services in start order. Services that accept requests from outside start last. */
export const services = ['event-consumer', 'delivery-worker', 'management-api', 'ingest-gateway'] as const;

export const allInOne = 'all-in-one';

/** Returns each program's source file. The key is the name of its bundle in `dist/<name>.mjs`. */
export function programs(root: string): Record<string, string> {
  const entries = {
    ...Object.fromEntries([...services, allInOne].map((name) => [name, `services/${name}/src/main.ts`])),
    // The gateway's worker thread, whose file must be in the gateway's directory.
    'ingest-gateway-body-worker': 'services/ingest-gateway/src/capture/body-worker.ts',
    millrace: 'packages/cli/src/main.ts',
  };
  return Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(join(root, path))));
}
