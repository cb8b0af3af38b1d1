/** `npm run test:long` runs what needs other languages, other browsers or a cluster, or takes long; `npm test` all else. */
const testMatch =
  process.env.MILLRACE_TEST_SUITE === 'long' ? ['**/*.long.test.ts'] : ['**/*.test.ts', '!**/*.long.test.ts'];

/** Native ES modules: run with NODE_OPTIONS=--experimental-vm-modules (packages/stack does). */
export default {
  rootDir: import.meta.dirname ?? process.cwd(),
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/test-e2e'],
  testMatch,
  testEnvironment: 'node',
  setupFiles: ['<rootDir>/packages/stack/src/jest/seed-properties.mjs'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2023',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.millrace/'],
  // Tests talk to real servers on two cores that may do much else; waiting is not failing. Longer than `eventually` waits.
  testTimeout: 180_000,
  maxWorkers: 2,
  // A process keeps the modules of every file it has run, about 65 MB each; with gigabytes of them it mostly collects garbage.
  workerIdleMemoryLimit: '800MB',
};
