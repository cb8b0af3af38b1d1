import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';

/**
 * Returns the directory for files that tests download or build once. `npm test` passes the user's cache. By default,
 * the directory is temporary.
 */
export function testCacheDirectory(): string {
  return readEnvironment().MILLRACE_CACHE_DIR || join(tmpdir(), `millrace-cache-${process.getuid?.() ?? 'user'}`);
}
