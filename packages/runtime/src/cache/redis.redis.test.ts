import { randomUUID } from 'node:crypto';
import { createFaultProxy, eventually, type FaultProxy, testServers } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import type { KeyValue } from './key-value.ts';
import { createRedisKeyValue } from './redis.ts';

const logger = createLogger('test', 'error');
let proxy: FaultProxy;
let store: KeyValue;
/** Past the proxy. */
let direct: KeyValue;

beforeEach(async () => {
  const url = new URL(testServers().redisUrl);
  proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || 6379) });
  const keyPrefix = `test:${randomUUID()}:`;
  direct = createRedisKeyValue(url.toString(), logger, { keyPrefix, commandTimeoutMs: 10_000 });
  url.host = `${proxy.host}:${proxy.port}`;
  store = createRedisKeyValue(url.toString(), logger, { keyPrefix, commandTimeoutMs: 2000 });
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
  ['gives no answer', () => proxy.blackHole()],
];

describe.each(faults)('while Redis %s', (_, fault) => {
  test.each(commands)('%s rejects instead of waiting, and works again by itself', async (_command, run) => {
    await eventually(run);
    await fault();
    await expect(run()).rejects.toMatchObject({ name: 'AppError', kind: 'unavailable', cause: expect.any(Error) });
    await expectHealth(false);
    await proxy.pass();
    await expectHealth(true);
    await eventually(run);
  });

  test('a subscription made before hears again afterwards', async () => {
    const received: string[] = [];
    await store.subscribe('channel', (message) => void received.push(message));
    await expectMessages(received);
    await fault();
    // Both connections are given up: the one for commands, and the subscriber's, which only listens.
    await eventually(() => store.get('key').catch(() => !store.isHealthy()), { what: 'The loss of the connection' });
    await proxy.pass();
    await expectHealth(true);
    await expectMessages(received);
  });

  test('a subscription made meanwhile hears afterwards', async () => {
    await fault();
    const received: string[] = [];
    await store.subscribe('channel', (message) => void received.push(message));
    await proxy.pass();
    await expectMessages(received);
  });
});

test('a subscriber finds out by itself that the network swallowed its connection', async () => {
  const received: string[] = [];
  await store.subscribe('channel', (message) => void received.push(message));
  await expectMessages(received);
  proxy.blackHole();
  const before = proxy.connectionCount();
  // Nobody sends a command, so only the pings of the subscriber can find out.
  await eventually(() => proxy.connectionCount() > before, { what: 'The attempt to connect anew' });
  await proxy.pass();
  await expectMessages(received);
});

test('a command that was refused is not done later behind the back of its caller', async () => {
  await proxy.refuse();
  await expectHealth(false);
  await expect(store.set('key', 'ghost', 60)).rejects.toMatchObject({ kind: 'unavailable' });
  await proxy.pass();
  await expectHealth(true);
  await eventually(async () => expect(await store.get('key')).toBeNull());
});

test('a command in flight when the connection breaks rejects', async () => {
  proxy.blackHole();
  const waiting = store.get('key');
  const rejected = expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
  proxy.cut();
  await rejected;
});

test('a store that has been stopped rejects and does not come back', async () => {
  await store.stop();
  await expect(store.get('key')).rejects.toMatchObject({ kind: 'unavailable' });
  await eventually(() => proxy.connectionCount() === 0, { what: 'The end of its connections' });
  expect(store.isHealthy()).toBe(false);
});

/** Passes once a message published from elsewhere arrives. */
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
