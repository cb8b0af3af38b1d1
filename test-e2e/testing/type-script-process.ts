import { fileURLToPath } from 'node:url';
import { testCacheDirectory } from './test-cache-directory.ts';

const stripTypes = fileURLToPath(new URL('../../packages/stack/src/jest/strip-types.mjs', import.meta.url));

/**
 * Options and environment of a Node.js process that can import TypeScript. The process starts twice as fast as with
 * tsx.
 */
export const typeScriptProcess = {
  options: ['--import', stripTypes],
  env: { MILLRACE_CACHE_DIR: testCacheDirectory() },
};
