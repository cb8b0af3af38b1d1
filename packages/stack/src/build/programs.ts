import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The services, in the order they are started: whoever answers the world comes last. */
export const services = ['event-consumer', 'delivery-worker', 'management-api', 'ingest-gateway'] as const;

/** All of them as one process. */
export const allInOne = 'all-in-one';

/** Every program that is built, by the name of its file: `dist/<name>.mjs`. */
export function programs(root: string): Record<string, string> {
  const entries = {
    ...Object.fromEntries([...services, allInOne].map((name) => [name, `services/${name}/src/main.ts`])),
    // A thread of the gateway, which finds it beside itself.
    'ingest-gateway-body-worker': 'services/ingest-gateway/src/large-bodies/body-worker.ts',
    millrace: 'packages/cli/src/main.ts',
  };
  return Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(join(root, path))));
}
