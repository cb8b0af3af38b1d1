import { randomUUID } from 'node:crypto';
import { eventually, patienceMs, testServers } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import { createInProcessStore } from './in-process.ts';
import type { KeyValueStore } from './key-value.ts';
import { createRedisStore } from './redis.ts';

const logger = createLogger('test', 'error');
/** Uses long time limits, because these tests are not about timing. */
const redisOptions = () => ({
  ...{ keyPrefix: `test:${randomUUID()}:`, commandTimeoutMs: patienceMs, silenceTimeoutMs: patienceMs },
});

async function ready(store: KeyValueStore): Promise<KeyValueStore> {
  await eventually(() => store.isHealthy(), { what: 'The connection to Redis' });
  return store;
}

const adapters: [string, () => Promise<KeyValueStore>][] = [
  ['in this process', async () => createInProcessStore()],
  ['on Redis', async () => ready(createRedisStore(testServers().redisUrl, logger, redisOptions()))],
];

describe.each(adapters)('the key-value store %s', (_, open) => {
  let store: KeyValueStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.stop());

  test('returns null for an unknown key', async () => {
    expect(await store.get('unknown')).toBeNull();
    await store.delete('unknown');
  });

  test.each(['phc_abc', 'a key: with "everything" *?[x] and Ünïcödé 👍', ''])(
    'stores a value under the key %j',
    async (key) => {
      await store.set(key, 'a value\nwith everything "👍" \0', 60);
      expect(await store.get(key)).toBe('a value\nwith everything "👍" \0');
      expect(await store.get(`${key}2`)).toBeNull();
    },
  );

  test('distinguishes an empty value from a missing one', async () => {
    await store.set('empty', '', 60);
    expect(await store.get('empty')).toBe('');
  });

  test('returns the value that was set last', async () => {
    await store.set('key', 'old', 60);
    await store.set('key', 'new', 60);
    expect(await store.get('key')).toBe('new');
  });

  test('setIfAbsent sets a value only if the key is absent', async () => {
    expect(await store.setIfAbsent('key', 'first', 60)).toBe(true);
    expect(await store.setIfAbsent('key', 'second', 60)).toBe(false);
    expect(await store.get('key')).toBe('first');
    await store.delete('key');
    expect(await store.setIfAbsent('key', 'third', 0.05)).toBe(true);
    await eventually(() => store.setIfAbsent('key', 'fourth', 60));
    expect(await store.get('key')).toBe('fourth');
  });

  test('returns null for a deleted key', async () => {
    await store.set('key', 'value', 60);
    await store.delete('key');
    expect(await store.get('key')).toBeNull();
  });

  test('drops a value when its TTL ends, and keeps all other values', async () => {
    await store.set('long', 'value', 60);
    await store.set('short', 'value', 0.2);
    await eventually(async () => (await store.get('short')) === null, { what: 'The end of the short TTL' });
    expect(await store.get('long')).toBe('value');
  });

  test('restarts the TTL when a value is set again', async () => {
    await store.set('key', 'old', 0.2);
    await store.set('key', 'new', 60);
    await store.set('marker', 'x', 0.4);
    await eventually(async () => (await store.get('marker')) === null, { what: 'The end of the marker' });
    expect(await store.get('key')).toBe('new');
  });

  test('expires a value whose TTL rounds to zero', async () => {
    await store.set('key', 'value', 0.000_1);
    await eventually(async () => (await store.get('key')) === null, { what: 'The end of the value' });
  });

  test('changes several counters in one call, and returns their values in the same order', async () => {
    const add = (key: string, by: number, atLeast = 0) => ({ key, by, atLeast, ttlSeconds: 60 });
    expect(await store.addToCounters([])).toEqual([]);
    expect(await store.addToCounters([add('a', 3), add('b', 0), add('a key: "x" *?', 1)])).toEqual([3, 0, 1]);
    expect(await store.addToCounters([add('b', 5), add('a', 4)])).toEqual([5, 7]);
    expect(await store.addToCounters([add('a', 2 ** 40)])).toEqual([2 ** 40 + 7]);
  });

  test('raises a counter to its minimum only if it is below the minimum', async () => {
    const add = (by: number, atLeast: number) => [{ key: 'a', by, atLeast, ttlSeconds: 60 }];
    expect(await store.addToCounters(add(1, 100))).toEqual([100]);
    expect(await store.addToCounters(add(1, 50))).toEqual([101]);
  });

  test('drops a counter when its TTL ends', async () => {
    await store.addToCounters([{ key: 'a', by: 3, atLeast: 0, ttlSeconds: 0.2 }]);
    await store.set('marker', 'x', 0.4);
    await eventually(async () => (await store.get('marker')) === null, { what: 'The end of the marker' });
    expect(await store.addToCounters([{ key: 'a', by: 1, atLeast: 0, ttlSeconds: 60 }])).toEqual([1]);
  });

  test('delivers messages in order, and only to subscribers of the channel', async () => {
    const received: Record<string, string[]> = { one: [], two: [], other: [], error: [] };
    await store.subscribe('project-keys', (message) => void received.one?.push(message));
    await store.subscribe('project-keys', (message) => void received.two?.push(message));
    await store.subscribe('other', (message) => void received.other?.push(message));
    await store.subscribe('error', (message) => void received.error?.push(message));
    await subscribed(store, 'project-keys', () => received.two ?? []);
    await subscribed(store, 'error', () => received.error ?? []);
    for (const messages of Object.values(received)) messages.length = 0;

    for (const message of ['phc_a', '*', '']) await store.publish('project-keys', message);
    await eventually(() => received.two?.length === 3, { what: 'The last message' });
    expect(received).toEqual({ one: ['phc_a', '*', ''], two: ['phc_a', '*', ''], other: [], error: [] });
  });

  test('delivers no messages after `stop`, even if `stop` is called twice', async () => {
    const received: string[] = [];
    await store.subscribe('channel', (message) => void received.push(message));
    await subscribed(store, 'channel', () => received);
    await store.stop();
    await store.stop();
    received.length = 0;
    await store.publish('channel', 'late').catch(() => {});
    expect(received).toEqual([]);
    expect(await store.get('key').catch(() => null)).toBeNull();
  });
});

test('two clients of one Redis server share values and messages only if they have the same prefix', async () => {
  const { redisUrl } = testServers();
  const options = redisOptions();
  const stores = await Promise.all(
    [options, options, redisOptions()].map(async (each) => ready(createRedisStore(redisUrl, logger, each))),
  );
  const [writer, reader, stranger] = stores as [KeyValueStore, KeyValueStore, KeyValueStore];
  try {
    const oneMore = [{ key: 'counter', by: 1, atLeast: 0, ttlSeconds: 60 }];
    await Promise.all([writer, reader, writer, reader].map((each) => each.addToCounters(oneMore)));
    expect([await reader.addToCounters(oneMore), await stranger.addToCounters(oneMore)]).toEqual([[5], [1]]);
    await writer.set('key', 'value', 60);
    expect([await reader.get('key'), await stranger.get('key')]).toEqual(['value', null]);

    const received: string[] = [];
    const ofOther: string[] = [];
    await reader.subscribe('channel', (message) => void received.push(message));
    await stranger.subscribe('channel', (message) => void ofOther.push(message));
    await subscribed(stranger, 'channel', () => ofOther);
    await subscribed(writer, 'channel', () => received);
    received.length = 0;
    ofOther.length = 0;
    await writer.publish('channel', 'hello');
    await eventually(() => received.length > 0, { what: 'The message' });
    expect([received, ofOther]).toEqual([['hello'], []]);
  } finally {
    await Promise.all(stores.map((store) => store.stop()));
  }
});

test('the in-process store evicts old entries when it is full', async () => {
  const store = createInProcessStore({ maxEntries: 2 });
  for (const key of ['a', 'b', 'c']) await store.set(key, key, 60);
  expect([await store.get('a'), await store.get('b'), await store.get('c')]).toEqual([null, 'b', 'c']);
});

/** Redis may apply a subscription only after the call has returned, so publish until a message arrives. */
async function subscribed(store: KeyValueStore, channel: string, received: () => readonly string[]): Promise<void> {
  await eventually(
    async () => {
      await store.publish(channel, 'ping');
      return received().length > 0;
    },
    { what: `The subscription to ${channel}` },
  );
  // Messages stay in order, so all earlier messages have arrived when `last` arrives.
  const last = randomUUID();
  await store.publish(channel, last);
  await eventually(() => received().includes(last), { what: 'The last message' });
}
