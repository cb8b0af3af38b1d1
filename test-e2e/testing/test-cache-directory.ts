import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';

/**
 * Returns the directory for files that tests download or build once: the user's cache, which `npm test` passes, or else
 * a temporary directory.
 */
export function testCacheDirectory(): string {
  return readEnvironment().MILLRACE_CACHE_DIR || join(tmpdir(), `millrace-cache-${process.getuid?.() ?? 'user'}`);
}
