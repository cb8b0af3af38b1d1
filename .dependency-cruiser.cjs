// Rules for the direction of imports (docs/architecture.md, "Packages and the direction of imports"). The package.json
// of a package lists the packages that it may import.

/**
 * The folders of each service or package, from bottom to top. A folder may only import itself and folders before it.
 * `.` stands for all files next to the folders that are not listed here. A folder that is not listed may not import any
 * other folder. Files in a package do not import its `index.ts`, which is for other packages.
 */
const foldersInOrder = {
  'services/ingest-gateway': [
    ...['config.ts', 'request-head.ts', 'json'],
    ...['body', 'access', 'response', 'large-bodies', 'capture', 'limits', 'publish', 'capture.ts'],
    ...['flag-data.ts', 'config', 'flags', '.'],
  ],
  'services/event-consumer': [
    ...['values', 'model', 'dead-letters.ts', 'failures.ts', 'warnings'],
    ...['rules', 'intake', 'cookieless', 'events', 'ledger', 'definitions', 'output'],
    ...['former-log.ts', 'frozen-session-store.ts', '.'],
  ],
  'services/delivery-worker': [
    ...['config.ts', 'poll.ts', 'post-json.ts'],
    ...['batch-exports', 'subscriptions', 'cohorts', 'sealing', 'retention', 'event-store', 'deletion', 'domains', '.'],
  ],
  'services/management-api': [
    ...[
      'signing-secret.ts',
      'identity/saml',
      'identity/oidc',
      'config.ts',
      'sql',
      'time',
      'access',
      'activity',
      'identity',
    ],
    ...['analytics/property-filters', 'analytics/distinct-ids', 'analytics/shown-persons', 'analytics'],
    ...['flags', 'deliveries', 'operations', 'app', '.'],
  ],
  'services/all-in-one': ['config.ts', '.'],
  'packages/browser': [
    ...['client', 'page', 'values.ts', 'options', 'storage', 'consent.ts', 'sending', 'session.ts', 'event'],
    // Features, each of which may import only features before it, and then the code that combines them.
    ...['identity.ts', 'limits.ts', 'device.ts', 'origin.ts', 'remote-config.ts', 'flags', 'autocapture'],
    ...['page-views.ts', 'exceptions', 'web-vitals', 'side-scripts', 'start', '.'],
  ],
  'packages/event-log': [
    ...['log.ts', 'backoff.ts', 'reachability.ts', 'consume', 'offsets-store.ts', 'append'],
    ...['kafka/kafkajs-internals', 'kafka', 'postgres', 'fallback', '.'],
  ],
  // Flag evaluation is a pure function, whose inputs the store loads.
  'packages/flags': [
    ...['steps.ts', 'values.ts', 'definitions.ts', 'filters', 'compile', 'evaluate', 'explain'],
    ...['.', 'store', 'cohorts'],
  ],
};

const ours = '^(packages|services)/';
const tests = ['/(testing|rule-cases|wire-cases)/'];

function orderOf([home, folders]) {
  const root = `^${home}/src/`;
  const index = `${root}(index|sql)\\.ts$`;
  const pathOf = (folder) => (folder === '.' ? '[^/]+$' : folder.endsWith('.ts') ? `${folder}$` : `${folder}/`);
  const anyOf = (some) => `${root}(${some.map(pathOf).join('|')})`;
  const rule = (what, from, to) => ({ name: `${home.split('/')[1]}-${what}`, severity: 'error', from, to });
  return [
    ...folders.map((folder, at) =>
      rule(
        `${folder === '.' ? 'root' : folder}-knows-only-the-folders-below`,
        { path: anyOf([folder]), pathNot: [index, ...tests] },
        { path: root, pathNot: [anyOf(folders.slice(0, at + 1)), ...tests] },
      ),
    ),
    rule('has-no-other-folders', { path: root, pathNot: [anyOf(folders), ...tests] }, { path: root }),
    rule('folders-do-not-use-the-index', { path: root, pathNot: tests }, { path: index }),
  ];
}

const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

/**
 * For each library whose internals we use, one folder contains the code that uses them. Each file in that folder gives
 * the reason. Only a few files may import the folder.
 */
const internals = [
  ['packages/event-log/src/kafka/', 'kafkajs-internals', 'node_modules/kafkajs/src/', '[^/]+$'],
  ['packages/db/src/', 'pg-internals', 'node_modules/(pg|pg-pool|pg-protocol)/(lib|dist)/[^i]', '[^/]+$|migrations/'],
].flatMap(([home, folder, inner, users]) => [
  forbid(`only-${folder}`, { pathNot: [`^${home}${folder}/`, 'node_modules'] }, { path: inner }),
  forbid(`${folder}-has-few-users`, { pathNot: `^${home}(${folder}/|${users})` }, { path: `^${home}${folder}/` }),
]);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    forbid('no-circular', {}, { circular: true }),
    { ...forbid('no-cycles-of-folders', {}, { circular: true }), scope: 'folder' },
    forbid(
      'services-apart',
      { path: '^services/([^/]+)/', pathNot: '^services/all-in-one/' },
      { path: '^services/', pathNot: '^services/$1/' },
    ),
    forbid(
      'all-in-one-only-starts-services',
      { path: '^services/all-in-one/' },
      { path: '^services/', pathNot: '^services/(all-in-one/|[^/]+/src/start\\.ts$)' },
    ),
    forbid('no-service-below-a-package', { path: '^packages/', pathNot: '^packages/bench/' }, { path: '^services/' }),
    forbid(
      'e2e-speaks-only-the-wire',
      { path: '^test-e2e/', pathNot: '^test-e2e/(testing|cluster|chart)/' },
      // Tests may import the built browser library, the demo shop, and the console's files.
      { path: '^(services|packages)/', pathNot: '^packages/(browser/(bundle|demo)|console/bundle)/' },
    ),
    forbid(
      'console-knows-the-api-over-the-wire',
      { path: '^packages/console/src/' },
      {
        path: '^(services|packages)/',
        pathNot: '^packages/(console/src/|contracts/src/(csv|numbers|chart|result-table)\\.ts$)',
      },
    ),
    forbid('browser-alone', { path: '^packages/browser/src/' }, { pathNot: '^packages/browser/src/' }),
    forbid(
      'react-knows-only-the-browser-library',
      { path: '^packages/react/src/' },
      { pathNot: ['^packages/(react|browser)/src/', 'node_modules/(@types/)?react/'] },
    ),
    forbid('testing-is-for-tests', { path: ours, pathNot: '^packages/bench/' }, { path: tests }),
    // Import @millrace/db/sql instead, because the typed client uses a dozen megabytes of memory in each process.
    forbid(
      'events-do-without-the-typed-client',
      { path: '^(services/(event-consumer|ingest-gateway)|packages/(event-log|flags/src/store))/' },
      { path: '^packages/db/', pathNot: '^packages/db/src/sql\\.ts$' },
    ),
    ...internals,
    ...Object.entries(foldersInOrder).flatMap(orderOf),
  ],
  options: {
    // Tests may import everything. For test helpers, only imports by other code are checked.
    doNotFollow: { path: ['node_modules', ...tests] },
    exclude: { path: [`${ours}.*(\\.test\\.tsx?$|/tests/)`, '/(generated|dist|fixtures)/', '\\.millrace'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
