// The programs that are built, and their source files.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The services in the order in which they are started. Those that accept requests from outside come last. */
export const services = ['event-consumer', 'delivery-worker', 'management-api', 'ingest-gateway'] as const;

export const allInOne = 'all-in-one';

/** Returns the source file of every program by the name of its bundle, `dist/<name>.mjs`. */
export function programs(root: string): Record<string, string> {
  const entries = {
    ...Object.fromEntries([...services, allInOne].map((name) => [name, `services/${name}/src/main.ts`])),
    // A worker thread of the gateway, which must be in the same directory as the gateway.
    'ingest-gateway-body-worker': 'services/ingest-gateway/src/capture/body-worker.ts',
    millrace: 'packages/cli/src/main.ts',
  };
  return Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(join(root, path))));
}
