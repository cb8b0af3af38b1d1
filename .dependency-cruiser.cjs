// The direction of imports (docs/architecture.md, "Packages and the direction of imports") as errors. What a package may use of
// other packages at all is said by its package.json.

/**
 * The folders of a service or package from the bottom to the top: each imports only itself and those before it. `.` are the
 * files beside the folders, all but those that are named. A folder that is not named may import nothing of the rest, until it is.
 * Nobody inside goes through `index.ts`, which is for others.
 */
const foldersInOrder = {
  'services/ingest-gateway': [
    ...['config.ts', 'head.ts', 'json'],
    // From the wire to JSON text, to events, whose they are, what may pass, into the log, what goes back.
    ...['body', 'readers', 'access', 'limits', 'publish', 'answer', 'large-bodies', 'capture', 'capture.ts'],
    ...['flag-data.ts', 'config', 'flags', 'processes.ts', '.'],
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
    // Features, none knowing a later one; all of it put together.
    ...['identity.ts', 'limits.ts', 'device.ts', 'origin.ts', 'remote-config.ts', 'flags', 'autocapture'],
    ...['page-views.ts', 'exceptions', 'web-vitals', 'side-scripts', 'start', '.'],
  ],
  'packages/event-log': [
    ...['log.ts', 'backoff.ts', 'reachability.ts', 'consume', 'offsets-store.ts', 'append'],
    ...['kafka/kafkajs-internals', 'kafka', 'postgres', 'fallback', '.'],
  ],
  // An evaluation is pure; the store fetches what it looks at.
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

/** What reaches inside a library lies in one folder, each file with its reason, and few files rely on it. */
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
      // The library as pages are served it, the demo shop, and the console's files.
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
    // Reading the typed client in takes a dozen megabytes of each process: import @millrace/db/sql.
    forbid(
      'events-do-without-the-typed-client',
      { path: '^(services/(event-consumer|ingest-gateway)|packages/(event-log|flags/src/store))/' },
      { path: '^packages/db/', pathNot: '^packages/db/src/sql\\.ts$' },
    ),
    ...internals,
    ...Object.entries(foldersInOrder).flatMap(orderOf),
  ],
  options: {
    // Tests stand beside what they test and use the whole: what they import is no direction, but that something imports them is.
    doNotFollow: { path: ['node_modules', ...tests] },
    exclude: { path: [`${ours}.*(\\.test\\.tsx?$|/tests/)`, '/(generated|dist|fixtures)/', '\\.millrace'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
