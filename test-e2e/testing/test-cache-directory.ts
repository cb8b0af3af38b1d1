import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '@millrace/runtime';

/** Where tests keep what was fetched or built once: the per-user place `npm test` names, else a temporary one. */
export function testCacheDirectory(): string {
  return environment().MILLRACE_CACHE_DIR || join(tmpdir(), `millrace-cache-${process.getuid?.() ?? 'user'}`);
}
