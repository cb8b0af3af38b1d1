import { randomUUID } from 'node:crypto';
import { type CounterChange, createRedisStore, type KeyValueStore } from '@millrace/runtime/cache';
import { eventually, testServers } from '@millrace/testing';
import { quietLogger } from '../testing/quiet-logger.ts';
import { createSharedCounters, type SharedCounters } from './shared-counters.ts';

let redis: KeyValueStore;
let counters: SharedCounters;
let sent: CounterChange[][];
beforeEach(async () => {
  const { redisUrl } = testServers();
  redis = createRedisStore(redisUrl, quietLogger(), { keyPrefix: `t-${randomUUID()}:`, commandTimeoutMs: 5000 });
  await eventually(() => redis.isHealthy(), { what: 'The connection to Redis' });
  sent = [];
  counters = start();
});
afterEach(async () => {
  await counters.stop();
  await redis.stop();
});

const laterMs = () => Date.now() + 60_000;
function start(options: { maxCounters?: number } = {}): SharedCounters {
  return createSharedCounters({
    store: {
      addToCounters(changes) {
        sent.push([...changes]);
        return redis.addToCounters(changes);
      },
    },
    now: Date.now,
    flushAfterMs: 20,
    onFlush: () => {},
    ...options,
  });
}

test('sends the counts of a thousand requests to the store in one command', async () => {
  for (let i = 0; i < 1000; i++) expect(counters.add('a', 2, laterMs())).toBe(2 * (i + 1));
  await eventually(async () => (await redis.get('a')) === '2000', { what: 'The count in the store' });
  expect(sent).toHaveLength(1);
});

test('sends thousands of counters in several commands of limited size', async () => {
  for (let i = 0; i < 1200; i++) counters.add(`c${i}`, 1, laterMs());
  await eventually(async () => (await redis.get('c1199')) === '1', { what: 'The last count' });
  expect(sent.map(({ length }) => length)).toEqual([500, 500, 200]);
});

test('receives the counts of other gateways when it sends its own', async () => {
  const other = start();
  other.add('a', 100, laterMs());
  await other.stop();
  counters.add('a', 1, laterMs());
  await eventually(() => counters.add('a', 0, laterMs()) === 101, { what: 'The count of the other' });
});

test('fetches an unknown counter once', async () => {
  const other = start();
  other.add('a', 100, laterMs());
  await other.stop();
  sent.length = 0;
  expect(counters.add('a', 0, laterMs())).toBe(0);
  await eventually(() => counters.add('a', 0, laterMs()) === 100, { what: 'The count of the other' });
  expect(sent).toHaveLength(1);
});

test('does not send expired counters to the store', async () => {
  counters.add('old', 1, Date.now() - 1);
  counters.add('new', 1, laterMs());
  await eventually(async () => (await redis.get('new')) === '1', { what: 'The count in the store' });
  expect(await redis.get('old')).toBeNull();
});

test('limits the number of counters in memory and in the queue', async () => {
  const small = start({ maxCounters: 10 });
  for (let i = 0; i < 1000; i++) small.add(`c${i}`, 1, laterMs());
  expect(small.size()).toBe(10);
  await small.stop();
  expect(sent.flat()).toHaveLength(10);
});

test('sends the remaining counts when the process stops', async () => {
  counters.add('a', 7, laterMs());
  await counters.stop();
  expect(await redis.get('a')).toBe('7');
});
