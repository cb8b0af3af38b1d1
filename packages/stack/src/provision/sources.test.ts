import { createReaper } from '../process/reaper.ts';
import { chromiumSources, firefoxSources } from './browser-sources.ts';
import { kafkaSources, postgresSources, redisSources } from './sources.ts';

const reaper = createReaper();
const options = { directory: '/nowhere', reaper, ports: { kafka: 0, redis: 0 } };

afterAll(() => reaper.dismiss());

test.each([
  [postgresSources, ['DATABASE_URL', 'Docker', 'the npm package']],
  [kafkaSources, ['KAFKA_BROKERS', 'Docker', "Apache Kafka's jars", 'Debian packages']],
  [redisSources, ['REDIS_URL', 'Docker', 'redis-server', 'Debian packages']],
])('%p: an address given, Docker, a local program, an installed package', (sources, order) => {
  expect(sources(options).map(({ name }) => name)).toEqual(order);
});

test.each([
  [chromiumSources, 'CHROMIUM_PATH'],
  [firefoxSources, 'FIREFOX_PATH'],
])('%p: a path given, a local program, an installed package', (sources, variable) => {
  expect(sources().map(({ name }) => name)).toEqual([variable, 'a local program', 'Debian packages']);
});
