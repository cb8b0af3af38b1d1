import { availableParallelism } from 'node:os';

/**
 * `npm run test:long` runs slow tests and tests that need other languages, other browsers or a cluster. `npm test` runs
 * all other tests.
 */
const testMatch =
  process.env.MILLRACE_TEST_SUITE === 'long' ? ['**/*.long.test.ts'] : ['**/*.test.ts', '!**/*.long.test.ts'];

export default {
  rootDir: import.meta.dirname ?? process.cwd(),
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/test-e2e'],
  testMatch,
  testEnvironment: '<rootDir>/packages/stack/src/jest/native-environment.mjs',
  runtime: '<rootDir>/packages/stack/src/jest/native-runtime.cjs',
  testSequencer: '<rootDir>/packages/stack/src/jest/shuffled-files.mjs',
  showSeed: true,
  setupFiles: ['<rootDir>/packages/stack/src/jest/seed-properties.mjs'],
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.millrace/'],
  // Longer than the timeout of `eventually`, so that on a busy machine, a test does not end before its wait does.
  testTimeout: 180_000,
  // Run one more worker than there are CPU cores, because tests also wait for timeouts and brokers.
  maxWorkers: Math.min(availableParallelism() + 1, 4),
  workerIdleMemoryLimit: '1500MB',
};
