import { findFreePort } from '@millrace/stack/servers/server-process';
import { createFaultProxy, eventually, keepLogs } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import type { KeyValueStore } from './key-value.ts';
import { createRedisStore } from './redis.ts';
import { toRedisConnection } from './redis-config.ts';
import { hasRedisServer, type OwnRedis, startOwnRedis } from './testing/redis-servers.ts';

const logger = createLogger('test', 'error');
const talkative = createLogger('test', 'warn');
const password = 'secret';
const itWithRedis = (await hasRedisServer()) ? test : test.skip;

let servers: OwnRedis[] = [];
let stores: KeyValueStore[] = [];
afterEach(async () => {
  await Promise.all(stores.map((store) => store.stop()));
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
  stores = [];
});

async function start(...how: Parameters<typeof startOwnRedis>): Promise<OwnRedis> {
  const server = await startOwnRedis(...how);
  servers.push(server);
  return server;
}

async function open(config: Parameters<typeof toRedisConnection>[0], log = logger): Promise<KeyValueStore> {
  const connection = toRedisConnection(config);
  if (connection === undefined) throw new Error('There is no connection.');
  const store = createRedisStore(connection, log, { commandTimeoutMs: 2000 });
  stores.push(store);
  await eventually(() => store.isHealthy(), { what: 'the connection' });
  return store;
}

const counters = ['a', 'b', 'c', 'd', 'e', 'f'].map((key, at) => ({ key, by: at, atLeast: 0, ttlSeconds: 60 }));
const urlOf = (...nodes: OwnRedis[]) => `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

async function expectToWork(store: KeyValueStore): Promise<void> {
  await store.set('key', 'value', 60);
  expect(await store.get('key')).toBe('value');
  const before = await store.addToCounters(counters.map((counter) => ({ ...counter, by: 0 })));
  expect(await store.addToCounters(counters)).toEqual(counters.map(({ by }, at) => (before[at] ?? 0) + by));
  await store.delete('key');
  expect(await store.get('key')).toBeNull();
  const heard: string[] = [];
  await store.subscribe('channel', (message) => void heard.push(message));
  await eventually(
    async () => {
      await store.publish('channel', 'news');
      return heard.includes('news');
    },
    { what: 'a message' },
  );
}

itWithRedis('a cluster distributes the keys of one call over several nodes', async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => start({ password, settings: ['cluster-enabled yes'] })));
  const [first, second, third] = nodes as [OwnRedis, OwnRedis, OwnRedis];
  await first.client.cluster('ADDSLOTSRANGE', 0, 5460);
  await second.client.cluster('ADDSLOTSRANGE', 5461, 10_922);
  await third.client.cluster('ADDSLOTSRANGE', 10_923, 16_383);
  for (const node of [second, third]) await meet(first, node);
  for (const { client } of nodes) {
    await eventually(async () => String(await client.cluster('INFO')).includes('cluster_state:ok'), {
      what: 'a cluster',
    });
  }
  const store = await open({ redisUrl: urlOf(first), redisMode: 'cluster', redisPassword: password });
  await expectToWork(store);
  const sizes = await Promise.all(nodes.map(({ client }) => client.dbsize()));
  expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
});

/** Joins two nodes into a cluster. The bus port is passed because it is not the default (port + 10000). */
async function meet(first: OwnRedis, other: OwnRedis): Promise<void> {
  const bus = (await other.client.config('GET', 'cluster-port')) as string[];
  await first.client.call('CLUSTER', 'MEET', '127.0.0.1', other.port, bus[1] ?? '');
}

async function startWatchedPair(): Promise<{ master: OwnRedis; replica: OwnRedis; sentinel: OwnRedis }> {
  const master = await start({ password, settings: ['repl-diskless-sync-delay 0'] });
  const replica = await start({
    password,
    settings: [`replicaof 127.0.0.1 ${master.port}`, `masterauth ${password}`],
  });
  const sentinel = await start({
    password: 'watcher',
    isSentinel: true,
    settings: [
      `sentinel monitor events 127.0.0.1 ${master.port} 1`,
      `sentinel auth-pass events ${password}`,
      'sentinel down-after-milliseconds events 2000',
      'sentinel failover-timeout events 3000',
    ],
  });
  await eventually(
    async () => ((await sentinel.client.call('SENTINEL', 'REPLICAS', 'events')) as unknown[]).length > 0,
    {
      what: 'the sentinel discovering the replica',
    },
  );
  // Wait until the replica has a copy of the data, because a sentinel would not promote it otherwise.
  await eventually(async () => (await replica.client.info('replication')).includes('master_link_status:up'), {
    what: 'the replica having a copy of the data',
  });
  return { master, replica, sentinel };
}

const bySentinel = (port: number) => ({
  redisUrl: `redis://127.0.0.1:${port}`,
  redisMode: 'sentinel' as const,
  redisSentinelMaster: 'events',
  redisSentinelPassword: 'watcher',
  redisPassword: password,
});

async function expectReplicaToWork(store: KeyValueStore, replica: OwnRedis): Promise<void> {
  const after = () =>
    store.set('after', 'failover', 60).then(
      () => true,
      () => false,
    );
  await eventually(after, { what: 'the replica' });
  // The sentinel announces the failover twice, so the driver may reconnect a second time.
  await eventually(() => expectToWork(store), { what: 'the store' });
  expect(await replica.client.get('millrace:after')).toBe('failover');
}

itWithRedis('follows the sentinels to their server, and to the new one after a failover', async () => {
  const { master, replica, sentinel } = await startWatchedPair();
  const store = await open(bySentinel(sentinel.port));
  await expectToWork(store);
  await master.kill();
  await expectReplicaToWork(store, replica);
});

itWithRedis('logs once that one of the sentinels is not responding', async () => {
  const { sentinel } = await startWatchedPair();
  const unusedPort = await findFreePort(0);
  const { logged } = await keepLogs(talkative, async () => {
    const both = `redis://127.0.0.1:${unusedPort},127.0.0.1:${sentinel.port}`;
    const store = await open({ ...bySentinel(sentinel.port), redisUrl: both }, talkative);
    await expectToWork(store);
  });
  // Without an error listener, the driver would print this error to standard error.
  expect(logged).toMatchObject([{ level: 'warn', message: 'Redis sentinel is not responding', port: unusedPort }]);
});

itWithRedis('follows the sentinels when they announce a new server during a lookup', async () => {
  const { master, replica, sentinel } = await startWatchedPair();
  const proxy = await createFaultProxy({ targetPort: sentinel.port });
  try {
    const store = await open(bySentinel(proxy.port));
    await expectToWork(store);
    // Delay the sentinel's responses to lookups, but not the messages that it publishes.
    proxy.holdNew();
    await master.kill();
    const named = () => sentinel.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'events');
    await eventually(async () => expect(await named()).toEqual(['127.0.0.1', String(replica.port)]), {
      what: 'the sentinel returning the replica',
    });
    await proxy.pass();
    await expectReplicaToWork(store, replica);
  } finally {
    await proxy.stop();
  }
});

itWithRedis('asks another sentinel when one does not respond', async () => {
  const master = await start({ password });
  const settings = [`sentinel monitor events 127.0.0.1 ${master.port} 1`, `sentinel auth-pass events ${password}`];
  const sentinel = await start({ password: 'watcher', isSentinel: true, settings });
  const silent = await createFaultProxy({ targetPort: sentinel.port });
  silent.blackHole();
  try {
    const store = await open({
      redisUrl: `redis://127.0.0.1:${silent.port},127.0.0.1:${sentinel.port}`,
      redisMode: 'sentinel',
      redisSentinelMaster: 'events',
      redisSentinelPassword: 'watcher',
      redisPassword: password,
    });
    await expectToWork(store);
  } finally {
    await silent.stop();
  }
});
