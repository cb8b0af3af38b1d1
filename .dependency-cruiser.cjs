// The direction of imports (docs/architecture.md, "Rooms and the direction of imports") as errors.
const only = (name, to, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: '^(packages|services|test-e2e)/', pathNot: allowed },
  to: { path: to },
});

/**
 * The rooms of a service or package from the bottom to the top: each imports only itself and those before it, so no two
 * import each other. `.` are the files beside the rooms; one that lies below rooms is given by its name, a folder in a room
 * by its path. A room that is not named may import nothing of the rest, until it is. `index.ts` is the door for others: it
 * may export from every room, and no room goes through it.
 */
const roomsInOrder = (home, rooms) => {
  const name = home.split('/').at(-1);
  const root = `^${home}/src/`;
  const door = `${root}(index|sql)\\.ts$`;
  const pathOf = (room) => (room === '.' ? '[^/]+$' : room.endsWith('.ts') ? `${room}$` : `${room}/`);
  const anyOf = (some) => `${root}(${some.map(pathOf).join('|')})`;
  const rule = (what, from, to) => ({
    name: `${name}-${what}`,
    severity: 'error',
    from: { ...from, pathNot: ['\\.test\\.ts$', door, ...(from.pathNot ?? [])] },
    to,
  });
  return [
    ...rooms.map((room, at) =>
      rule(
        `${room === '.' ? 'root' : room}-knows-only-the-rooms-below`,
        { path: anyOf([room]), pathNot: ['/testing/'] },
        { path: root, pathNot: anyOf(rooms.slice(0, at + 1)) },
      ),
    ),
    rule('has-no-other-rooms', { path: root, pathNot: [anyOf(rooms)] }, { path: root }),
    rule('rooms-do-not-use-the-door', { path: root, pathNot: ['/testing/'] }, { path: door }),
  ];
};

/** What several resources of the management API share; what accounts consist of, each showing only those before it. */
const sharedByResources = ['activity', 'property-filters', 'distinct-ids', 'shown-persons', 'embedded-users'];
const accountResources = [
  ...['environments', 'projects', 'members', 'organizations', 'users'],
  ...['personal-api-keys', 'invites', 'domains'],
];

const kafkajsInternals = '^packages/event-log/src/kafka/kafkajs-internals/';
const pgInternals = '^packages/db/src/pg-internals/';
const nodeHttpInternals = '^services/ingest-gateway/src/node-http-internals/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: ['generated/'] } },
    {
      name: 'service-imports-service',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'package-imports-service',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/(bench|testing)/' },
      to: { path: '^services/' },
    },
    {
      name: 'e2e-speaks-only-the-wire',
      severity: 'error',
      from: { path: '^test-e2e/' },
      // And serves pages the library as it is bundled for them, and the demo shop.
      to: { path: '^(services|packages)/', pathNot: '^packages/(testing|browser/(bundle|demo))/' },
    },
    {
      name: 'errors-imports-nothing',
      severity: 'error',
      from: { path: '^packages/errors/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/errors/' },
    },
    {
      name: 'contracts-imports-only-errors',
      severity: 'error',
      from: { path: '^packages/contracts/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(contracts|errors)/' },
    },
    {
      name: 'runtime-imports-only-contracts-and-errors',
      severity: 'error',
      from: { path: '^packages/runtime/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(runtime|contracts|errors)/' },
    },
    {
      name: 'building-blocks-know-only-what-is-below',
      severity: 'error',
      comment: 'event-log may use db: its embedded adapter is PostgreSQL',
      from: { path: '^packages/(http|cache|db)/', pathNot: ['\\.test\\.ts$', '/testing/'] },
      to: { path: '^packages/', pathNot: '^packages/(http|cache|db|runtime|contracts|errors)/' },
    },
    {
      name: 'accounts-know-only-the-database',
      severity: 'error',
      from: { path: '^packages/accounts/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(accounts|db|contracts|errors)/' },
    },
    {
      name: 'http-cache-db-do-not-know-each-other',
      severity: 'error',
      from: { path: '^packages/(http|cache|db)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(http|cache|db|event-log)/', pathNot: '^packages/$1/' },
    },
    {
      name: 'flags-know-no-store',
      severity: 'error',
      comment: 'An evaluation is pure; flag-store fetches what it looks at.',
      from: { path: '^packages/flags/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(flags|schedule|contracts|errors)/' },
    },
    {
      name: 'flag-store-knows-only-what-is-below',
      severity: 'error',
      from: { path: '^packages/flag-store/', pathNot: ['\\.test\\.ts$', '/testing/'] },
      to: { path: '^(packages|services)/', pathNot: '^packages/(flag-store|flags|db|runtime|contracts|errors)/' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: [
          '\\.test\\.ts$',
          '^packages/(testing|bench|cluster)/',
          '/testing/',
          '^packages/(browser|react)/tests/',
        ],
      },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'the-way-of-events-does-without-the-typed-client',
      severity: 'error',
      comment: 'Reading it in takes a dozen megabytes of each process: import @millrace/db/sql.',
      from: {
        path: '^(services/(event-consumer|ingest-gateway)|packages/(event-log|flag-store))/',
        pathNot: ['\\.test\\.ts$', '/testing/', '/rule-cases/'],
      },
      to: { path: '^packages/db/', pathNot: '^packages/db/src/sql\\.ts$' },
    },
    ...roomsInOrder('services/ingest-gateway', [
      // What reaches inside Node, the head of a request, JSON.
      ...['config.ts', 'node-http-internals', 'head.ts', 'json'],
      // The steps: from the wire to JSON text, to events, whose they are, what may pass, into the log, what goes back.
      ...['body', 'readers', 'access', 'limits', 'publish', 'answer'],
      // What is large is read in threads, by the same readers; then the steps in their order.
      ...['large-bodies', 'capture'],
      // What is loaded of flags; what else SDKs ask for; the answers to flags; several processes on one port.
      ...['flag-data.ts', 'config', 'flags', 'processes.ts'],
      // The whole, and what only tests use.
      ...['.', 'testing', 'wire-cases'],
    ]),
    ...roomsInOrder('services/event-consumer', [
      // What knows nothing of events, the types all share, what cannot be processed and what asks for a repetition.
      ...['async.ts', 'values', 'model', 'dead-letters.ts', 'failures.ts', 'warnings'],
      // Pure rules; then reading what came in, and what is stored of it.
      ...['rules', 'intake', 'cookieless', 'events', 'ledger', 'definitions'],
      // Beside the way of a batch.
      ...['output', 'former-log.ts', 'frozen-session-store.ts'],
      // The tables of contents, and what only tests use.
      ...['.', 'rule-cases', 'testing'],
    ]),
    ...roomsInOrder('services/delivery-worker', [
      // How work is done again and again; what leads out of the installation.
      ...['config.ts', 'poll.ts', 'outbound.ts'],
      // What is due, none knowing another.
      ...['batch-exports', 'subscriptions', 'cohorts', 'sealing', 'retention', 'deletion'],
      // The list of tasks, and what only tests use.
      ...['.', 'testing'],
    ]),
    ...roomsInOrder('services/management-api', [
      // What is a gateway's to answer; what all lists share; who asks, and what they may.
      ...['signing-secret.ts', 'config.ts', 'sdk-requests', 'sql', 'time', 'access'],
      ...sharedByResources.map((room) => `resources/${room}`),
      ...accountResources.map((room) => `resources/${room}`),
      // What was ingested, and what becomes of it later.
      ...['persons', 'groups', 'events', 'definitions', 'ingestion-warnings'].map((room) => `resources/${room}`),
      'resources/cohorts',
      ...['subscriptions', 'batch-exports', 'feature-flags', 'early-access-features', 'schema'].map(
        (room) => `resources/${room}`,
      ),
      // The whole, and what only tests use.
      ...['.', 'testing'],
    ]),
    {
      name: 'resources-know-only-what-they-share',
      severity: 'error',
      comment:
        'What two resources need gets a room of its own below them. Accounts show parts of each other, in order.',
      from: {
        path: '^services/management-api/src/resources/([^/]+)/',
        pathNot: ['\\.test\\.ts$', `^services/management-api/src/resources/(${accountResources.join('|')})/`],
      },
      to: {
        path: '^services/management-api/src/resources/',
        // A feature makes its flag, and changes it, by the rules of flags; flags copy cohorts, by theirs.
        pathNot: `^services/management-api/src/resources/($1|${sharedByResources.join('|')}|feature-flags|cohorts)/`,
      },
    },
    ...roomsInOrder('packages/browser', [
      // Types; what a browser has or lacks; what an application gave.
      ...['client', 'page', 'values.ts', 'options'],
      // What is remembered; what all events are made of.
      ...['storage', 'consent.ts', 'sending', 'session.ts', 'event', 'identity.ts'],
      // Features, none knowing another; all of it put together; one file per build.
      ...['limits.ts', 'device.ts', 'origin.ts', 'remote-config.ts', 'flags'],
      ...['autocapture', 'page-views.ts', 'exceptions', 'web-vitals'],
      ...['side-scripts', 'start', '.'],
    ]),
    ...roomsInOrder('packages/event-log', [
      // What all adapters share: the port and small tools; reading and its offsets; writing.
      ...['log.ts', 'async.ts', 'reachability.ts', 'consume', 'offsets-store.ts', 'append'],
      ...['kafka/kafkajs-internals', 'kafka', 'postgres', 'fallback'],
      ...['.', 'testing'],
    ]),
    ...roomsInOrder('packages/db', ['pg-internals', '.', 'migrations', 'persons', 'dead-letters', 'testing']),
    ...roomsInOrder('packages/accounts', [
      // Shared by all; then each knows those before it.
      ...[
        'input.ts',
        'activity',
        'keys',
        'access',
        'users',
        'organizations',
        'members',
        'projects',
        'invites',
        'restrictions',
      ],
      ...['.'],
    ]),
    ...roomsInOrder('packages/http', [
      'schema',
      'errors',
      'route',
      'server',
      'mount',
      'pagination.ts',
      'openapi',
      'testing',
    ]),
    {
      name: 'cohorts-know-only-flags-and-the-database',
      severity: 'error',
      from: { path: '^packages/cohorts/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(cohorts|flag-store|flags|db)/' },
    },
    ...roomsInOrder('packages/flags', [
      'steps.ts',
      'values',
      'definitions.ts',
      'filters',
      'compile',
      'evaluate',
      'explain',
      'testing',
    ]),
    {
      name: 'react-knows-only-the-browser-library',
      severity: 'error',
      from: { path: '^packages/react/src/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(react|browser)/' },
    },
    ...roomsInOrder('packages/react', ['utils', 'context', 'hooks', 'helpers', 'components', 'surveys', '.']),
    ...roomsInOrder('packages/stack', [
      ...['setup-problem.ts', 'data-directory.ts', 'command.ts', 'process', 'registry'],
      // The servers, each with what starts it; then where they come from.
      ...['kafka', 'postgres', 'redis', 'docker', 'provision'],
      ...['build', 'image', 'docs', 'check', 'start', 'test', '.', 'testing'],
    ]),
    ...roomsInOrder('packages/cluster', [
      ...['network-policies.ts', 'parts', 'api-server', 'node', 'namespaces.ts', 'control-plane.ts', 'addons.ts'],
      ...['connections', 'cluster.ts', 'stories', '.'],
    ]),
    ...roomsInOrder('packages/cli', [
      ...['refusals.ts', 'terminal.ts', 'print.ts', 'option-values.ts', 'announce-key-changes.ts', 'session.ts'],
      ...['bootstrap-installation.ts'],
      ...[
        'log',
        'answer-words.ts',
        'import',
        'management-api',
        'flags',
        'doctor',
        'restore',
        'commands',
        '.',
        'testing',
      ],
    ]),
    ...roomsInOrder('packages/bench', [
      ...[
        'workload',
        'topic',
        'store',
        'process',
        'drain',
        'report',
        'load',
        'naive',
        'flags',
        'unleash',
        'browser',
        'e2e',
        'chaos',
        '.',
      ],
    ]),
    only(
      'kafkajs-only-in-event-log',
      'node_modules/kafkajs/',
      ['^packages/event-log/src/kafka/', '^packages/(bench|testing|stack)/', '^test-e2e/', '\\.test\\.ts$'],
      'Everything else uses the port.',
    ),
    only('ioredis-only-in-cache', 'node_modules/ioredis/', ['^packages/cache/'], 'Everything else uses the port.'),
    only(
      'express-only-at-the-edge',
      'node_modules/express/',
      ['^packages/http/', '^services/[^/]+/src/app\\.ts$', '-route\\.ts$', '^packages/bench/'],
      '',
    ),
    only(
      'prisma-client-only-in-db',
      'node_modules/@prisma/',
      ['^packages/db/'],
      'Stores take the client as an argument.',
    ),
    only(
      'pg-only-in-db',
      'node_modules/pg/',
      ['^packages/(db|bench|cluster|testing|stack)/', '^test-e2e/'],
      'One pool, one place.',
    ),
    only(
      'inner-files-of-kafkajs-only-in-its-room',
      'node_modules/kafkajs/src/',
      [kafkajsInternals],
      'What reaches inside a library lies in one room, each file with its reason, its witness and when it may go.',
    ),
    only(
      'inner-files-of-pg-only-in-its-room',
      'node_modules/(pg|pg-pool|pg-protocol|pg-types)/(lib|dist)/(?!index\\.)',
      [pgInternals],
      'As for kafkajs.',
    ),
    only(
      'kafkajs-internals-behind-named-files',
      kafkajsInternals,
      [kafkajsInternals, '^packages/event-log/src/kafka/(log|consumer|reader|group|inspect|session|topics)\\.ts$'],
      'The fewer rely on it, the sooner it can go.',
    ),
    only(
      'pg-internals-behind-named-files',
      pgInternals,
      [
        pgInternals,
        '^packages/db/src/(create-transactions|foreign-connection|listen|open-pool|reachability|transaction|migrations/migrate)\\.ts$',
      ],
      'As for kafkajs.',
    ),
    only(
      'node-http-internals-behind-named-files',
      nodeHttpInternals,
      [nodeHttpInternals, '^services/ingest-gateway/src/[^/]+/send-answer\\.ts$'],
      'As for kafkajs.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A program that tests compile elsewhere, with what it imports.
    exclude: { path: ['packages/db/src/generated', '/dist/', '\\.millrace', 'build/libraries/fixtures/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
