import { freePort } from '@millrace/stack/servers/server-process';
import { createFaultProxy, eventually, keepLogs } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import type { KeyValue } from './key-value.ts';
import { createRedisKeyValue } from './redis.ts';
import { redisConnection } from './redis-config.ts';
import { hasRedisServer, type OwnRedis, startOwnRedis } from './testing/redis-servers.ts';

const logger = createLogger('test', 'error');
const talkative = createLogger('test', 'warn');
const password = 'secret';
const itWithRedis = (await hasRedisServer()) ? test : test.skip;

let servers: OwnRedis[] = [];
let stores: KeyValue[] = [];
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

async function open(config: Parameters<typeof redisConnection>[0], log = logger): Promise<KeyValue> {
  const connection = redisConnection(config);
  if (connection === undefined) throw new Error('There is no connection.');
  const store = createRedisKeyValue(connection, log, { commandTimeoutMs: 2000 });
  stores.push(store);
  await eventually(() => store.isHealthy(), { what: 'the connection' });
  return store;
}

const counters = ['a', 'b', 'c', 'd', 'e', 'f'].map((key, at) => ({ key, by: at, atLeast: 0, ttlSeconds: 60 }));
const urlOf = (...nodes: OwnRedis[]) => `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

/** Everything the port can do, on this store and from it to itself. */
async function expectToWork(store: KeyValue): Promise<void> {
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

itWithRedis('a cluster: keys of one call lie on several nodes', async () => {
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

/** The bus of a node is on a port that is not the usual 10000 more. */
async function meet(first: OwnRedis, other: OwnRedis): Promise<void> {
  const bus = (await other.client.config('GET', 'cluster-port')) as string[];
  await first.client.call('CLUSTER', 'MEET', '127.0.0.1', other.port, bus[1] ?? '');
}

/** A server, one that has its data, and a sentinel that puts the second in the place of the first. */
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
      what: 'the sentinel knowing the replica',
    },
  );
  // One that has never had the data is not put in the place of its master.
  await eventually(async () => (await replica.client.info('replication')).includes('master_link_status:up'), {
    what: 'the replica having the data',
  });
  return { master, replica, sentinel };
}

/** By a sentinel that is asked at this port. */
const bySentinel = (port: number) => ({
  redisUrl: `redis://127.0.0.1:${port}`,
  redisMode: 'sentinel' as const,
  redisSentinelMaster: 'events',
  redisSentinelPassword: 'watcher',
  redisPassword: password,
});

async function expectReplicaToWork(store: KeyValue, replica: OwnRedis): Promise<void> {
  const after = () =>
    store.set('after', 'failover', 60).then(
      () => true,
      () => false,
    );
  await eventually(after, { what: 'the replica' });
  // The sentinel tells of the failover once more by itself, upon which the driver connects again.
  await eventually(() => expectToWork(store), { what: 'the store' });
  expect(await replica.client.get('millrace:after')).toBe('failover');
}

itWithRedis('sentinels: the server they name, and after its death the one they name then', async () => {
  const { master, replica, sentinel } = await startWatchedPair();
  const store = await open(bySentinel(sentinel.port));
  await expectToWork(store);
  await master.kill();
  await expectReplicaToWork(store, replica);
});

itWithRedis('sentinels, one of which is away: it is said once', async () => {
  const { sentinel } = await startWatchedPair();
  const nobody = await freePort(0);
  const { logged } = await keepLogs(talkative, async () => {
    const both = `redis://127.0.0.1:${nobody},127.0.0.1:${sentinel.port}`;
    const store = await open({ ...bySentinel(sentinel.port), redisUrl: both }, talkative);
    await expectToWork(store);
  });
  // The driver would print it, had nobody listened.
  expect(logged).toMatchObject([{ level: 'warn', message: 'Redis sentinel is not responding', port: nobody }]);
});

itWithRedis('sentinels that name another server while they are being asked for one', async () => {
  const { master, replica, sentinel } = await startWatchedPair();
  const proxy = await createFaultProxy({ targetPort: sentinel.port });
  try {
    const store = await open(bySentinel(proxy.port));
    await expectToWork(store);
    // What the sentinel tells by itself comes through, what it is asked waits.
    proxy.holdNew();
    await master.kill();
    const named = () => sentinel.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'events');
    await eventually(async () => expect(await named()).toEqual(['127.0.0.1', String(replica.port)]), {
      what: 'the sentinel naming the replica',
    });
    await proxy.pass();
    await expectReplicaToWork(store, replica);
  } finally {
    await proxy.stop();
  }
});

itWithRedis('sentinels, one of which says nothing: another is asked', async () => {
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
