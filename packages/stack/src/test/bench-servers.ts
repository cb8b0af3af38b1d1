// Starts the servers for benchmarks.

import type { Progress } from '../command.ts';
import { withTestServers } from './test-servers.ts';

const needed = new Set(['DATABASE_URL', 'KAFKA_BROKERS', 'REDIS_URL'] as const);

const progress: Progress = { print: (line) => console.error(line), step: (_title, work) => work(() => {}) };

/**
 * Runs `work` with the servers in DATABASE_URL, KAFKA_BROKERS and REDIS_URL. If one of these variables is not set,
 * starts that server and sets the variable.
 * @throws Error if a server can be neither reached nor started
 */
export async function withBenchServers<Result>(root: string, work: () => Promise<Result>): Promise<Result> {
  return withTestServers(needed, { root, progress }, async ({ addresses, missing }) => {
    if (missing.length > 0) throw new Error(`Set ${missing.join(', ')} to run benchmarks.`);
    Object.assign(process.env, addresses);
    return work();
  });
}
