import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needsOf } from './test-needs.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

test.each([
  ['packages/flags/src/evaluate/evaluate-flags.test.ts', []],
  ['packages/runtime/src/cache/redis.test.ts', ['REDIS_URL']],
  ['packages/runtime/src/cache/redis-topologies.test.ts', ['REDIS_SERVER_PATH']],
  ['packages/event-log/src/kafka/kafka-replicas.test.ts', ['DATABASE_URL', 'KAFKA_BROKERS', 'KAFKA_JARS']],
  ['packages/browser/tests/sending/leaving.test.ts', ['CHROMIUM_PATH', 'KEPT_PAGES']],
  ['packages/db/src/listen.test.ts', ['DATABASE_URL']],
  ['packages/event-log/src/kafka/kafka-tls.test.ts', ['KAFKA_BROKERS']],
  ['packages/browser/tests/client/init.test.ts', ['CHROMIUM_PATH']],
  ['packages/browser/tests/firefox/firefox.long.test.ts', ['FIREFOX_PATH']],
  [
    'test-e2e/console/other-browsers.long.test.ts',
    ['DATABASE_URL', 'FIREFOX_PATH', 'KAFKA_BROKERS', 'REDIS_URL', 'WEBKIT_DRIVER_PATH'],
  ],
  ['packages/stack/src/servers/sources.test.ts', []],
  ['test-e2e/story.sampled.test.ts', ['DATABASE_URL', 'KAFKA_BROKERS', 'REDIS_URL']],
])('%s needs %j', (file, needs) => {
  expect([...needsOf(root, [join(root, file)])].sort()).toEqual(needs);
});

describe('what is read', () => {
  let repository: string;
  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'millrace-needs-'));
  });
  afterEach(() => rmSync(repository, { recursive: true }));

  function needsWith(files: Record<string, string>): string[] {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, name)), { recursive: true });
      writeFileSync(join(repository, name), text);
    }
    return [...needsOf(repository, [join(repository, 'src/a.test.ts')])];
  }
  // Put together here, so that this file asks for nothing itself.
  const call = (name: string) => `${name}()`;
  const asks = `export const brokers = () => ${call('testServers')}.kafkaBrokers;\n`;
  const index =
    "// All of it.\nexport {\n  brokers,\n  type Broker,\n} from './testing/asks.ts';\nexport { other } from './other.ts';\n";
  const shared = {
    'src/testing/asks.ts': asks,
    'src/other.ts': 'export const other = 1;\n',
    'src/index.ts': index,
  };

  test.each([
    ['the file itself', { 'src/a.test.ts': `const { kafkaBrokers } = ${call('testServers')};\n` }, ['KAFKA_BROKERS']],
    ['what it imports', { 'src/a.test.ts': "import {\n  brokers,\n} from './testing/asks.ts';\n" }, ['KAFKA_BROKERS']],
    [
      'what it imports later',
      { 'src/a.test.ts': "const { x } = await import('./testing/asks.ts');\n" },
      ['KAFKA_BROKERS'],
    ],
    [
      'what that imports',
      { 'src/a.test.ts': "import * as b from './b.ts';\n", 'src/b.ts': "import './testing/asks.ts';\n" },
      ['KAFKA_BROKERS'],
    ],
    ['what an index passes on', { 'src/a.test.ts': "import { brokers as b } from './index.ts';\n" }, ['KAFKA_BROKERS']],
    ['of an index only what is imported', { 'src/a.test.ts': "import { other } from './index.ts';\n" }, []],
    ['no types', { 'src/a.test.ts': "import type { Broker } from './testing/asks.ts';\n" }, []],
    ['no types beside values', { 'src/a.test.ts': "import { other, type Broker } from './index.ts';\n" }, []],
    ['a circle once', { 'src/a.test.ts': "import { b } from './b.ts';\n", 'src/b.ts': "import './a.test.ts';\n" }, []],
    ['no declaration', { 'src/a.test.ts': `export function ${call('findChromium')}: string { return ''; }\n` }, []],
    [
      'nothing that a service is made of',
      { 'src/a.test.ts': "import './b.ts';\n", 'src/b.ts': `const path = ${call('findChromium')};\n` },
      [],
    ],
  ])('%s', (_, files, needs) => {
    expect(needsWith({ ...shared, ...files })).toEqual(needs);
  });
});
