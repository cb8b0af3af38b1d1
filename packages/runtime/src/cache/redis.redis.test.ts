import { randomUUID } from 'node:crypto';
import { createFaultProxy, eventually, type FaultProxy, testServers } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import type { KeyValueStore } from './key-value.ts';
import { createRedisStore } from './redis.ts';

const logger = createLogger('test', 'error');
let proxy: FaultProxy;
let store: KeyValueStore;
/** Connects to Redis directly, not through the proxy. */
let direct: KeyValueStore;

beforeEach(async () => {
  const url = new URL(testServers().redisUrl);
  proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || 6379) });
  const keyPrefix = `test:${randomUUID()}:`;
  direct = createRedisStore(url.toString(), logger, { keyPrefix, commandTimeoutMs: 10_000 });
  url.host = `${proxy.host}:${proxy.port}`;
  store = createRedisStore(url.toString(), logger, { keyPrefix, commandTimeoutMs: 2000 });
  await expectHealth(true);
  await eventually(() => direct.isHealthy(), { what: 'The direct connection' });
});
afterEach(async () => {
  await Promise.all([store.stop(), direct.stop()]);
  await proxy.stop();
});

const expectHealth = (isHealthy: boolean) =>
  eventually(() => store.isHealthy() === isHealthy, { what: `isHealthy() being ${isHealthy}` });

const commands: [string, () => Promise<unknown>][] = [
  ['get', () => store.get('key')],
  ['set', () => store.set('key', 'value', 60)],
  ['delete', () => store.delete('key')],
  ['addToCounters', () => store.addToCounters([{ key: 'counter', by: 1, atLeast: 0, ttlSeconds: 60 }])],
  ['publish', () => store.publish('channel', 'message')],
];

const faults: [string, () => unknown][] = [
  ['refuses connections', () => proxy.refuse()],
  ['does not respond', () => proxy.blackHole()],
];

describe.each(faults)('the Redis store while Redis %s', (_, fault) => {
  test.each(commands)(
    "the store's %s rejects immediately during a Redis outage, and works again afterwards",
    async (_command, run) => {
      await eventually(run);
      await fault();
      await expect(run()).rejects.toMatchObject({ name: 'AppError', kind: 'unavailable', cause: expect.any(Error) });
      await expectHealth(false);
      await proxy.pass();
      await expectHealth(true);
      await eventually(run);
    },
  );

  test('an existing subscription receives messages again after a Redis outage', async () => {
    const received: string[] = [];
    await store.subscribe('channel', (message) => void received.push(message));
    await expectMessages(received);
    await fault();
    // Wait until both connections are closed: the one for commands and the one for subscriptions.
    await eventually(() => store.get('key').catch(() => !store.isHealthy()), { what: 'The loss of the connection' });
    await proxy.pass();
    await expectHealth(true);
    await expectMessages(received);
  });

  test('a subscription that was created during a Redis outage receives messages afterwards', async () => {
    await fault();
    const received: string[] = [];
    await store.subscribe('channel', (message) => void received.push(message));
    await proxy.pass();
    await expectMessages(received);
  });
});

test('a subscriber detects a lost connection although it sends no commands', async () => {
  const received: string[] = [];
  await store.subscribe('channel', (message) => void received.push(message));
  await expectMessages(received);
  proxy.blackHole();
  const before = proxy.connectionCount();
  // The test sends no command, so only the subscriber's pings can detect the lost connection.
  await eventually(() => proxy.connectionCount() > before, { what: 'The attempt to connect anew' });
  await proxy.pass();
  await expectMessages(received);
});

test('Redis never executes a command that was rejected during an outage', async () => {
  await proxy.refuse();
  await expectHealth(false);
  await expect(store.set('key', 'ghost', 60)).rejects.toMatchObject({ kind: 'unavailable' });
  await proxy.pass();
  await expectHealth(true);
  await eventually(async () => expect(await store.get('key')).toBeNull());
});

test('a command in flight rejects when the connection breaks', async () => {
  proxy.blackHole();
  const waiting = store.get('key');
  const rejected = expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
  proxy.cut();
  await rejected;
});

test('a stopped Redis store rejects commands and does not reconnect', async () => {
  await store.stop();
  await expect(store.get('key')).rejects.toMatchObject({ kind: 'unavailable' });
  await eventually(() => proxy.connectionCount() === 0, { what: 'The end of its connections' });
  expect(store.isHealthy()).toBe(false);
});

async function expectMessages(received: string[]): Promise<void> {
  const message = randomUUID();
  await eventually(
    async () => {
      await direct.publish('channel', message);
      return received.includes(message);
    },
    { what: 'The message' },
  );
}
