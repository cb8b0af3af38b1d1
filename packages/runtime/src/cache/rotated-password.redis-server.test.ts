import { eventually, keepLogs, type MountedSecret, mountSecret, patienceMs } from '@millrace/testing';
import { Type } from 'typebox';
import { readConfig } from '../config.ts';
import { createLogger } from '../logger.ts';
import { createRedisStore } from './redis.ts';
import { redisConfigFields, toRedisConnection } from './redis-config.ts';
import { hasRedisServer, type OwnRedis, startOwnRedis } from './testing/redis-servers.ts';

const itWithRedis = (await hasRedisServer()) ? test : test.skip;
const logger = createLogger('test', 'warn');
let server: OwnRedis;
let secret: MountedSecret;
afterEach(async () => {
  await server.stop();
  secret.remove();
});

const place = () => `127.0.0.1:${server.port}`;

itWithRedis.each([
  [
    'a password outside the URL',
    {},
    (password: string) => password,
    () => ({ REDIS_URL: `redis://${place()}`, REDIS_PASSWORD_FILE: secret.file('redis') }),
  ],
  [
    'a URL with a password',
    {},
    (password: string) => `redis://:${password}@${place()}`,
    () => ({ REDIS_URL_FILE: secret.file('redis') }),
  ],
  [
    'a cluster',
    { settings: ['cluster-enabled yes', 'cluster-announce-ip 127.0.0.1'] },
    (password: string) => password,
    () => ({ REDIS_URL: `redis://${place()}`, REDIS_MODE: 'cluster', REDIS_PASSWORD_FILE: secret.file('redis') }),
  ],
])('keeps open connections to Redis, and uses the new password for new ones: %s', async (_, how, textOf, settings) => {
  server = await startOwnRedis({ password: 'first', ...how });
  if ('settings' in how) await server.client.cluster('ADDSLOTSRANGE', 0, 16_383);
  secret = mountSecret({ redis: textOf('first') });
  const connection = toRedisConnection(readConfig(Type.Object(redisConfigFields), settings()));
  if (connection === undefined) throw new Error('There is no connection.');
  const store = createRedisStore(connection, logger, { commandTimeoutMs: patienceMs, silenceTimeoutMs: patienceMs });
  const works = () =>
    store.set('key', 'value', 60).then(
      () => true,
      () => false,
    );
  try {
    await eventually(works, { what: 'the first connection' });
    const { logged } = await keepLogs(logger, async () => {
      await server.client.config('SET', 'requirepass', 'second');
      expect(await works()).toBe(true);
      await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await eventually(async () => ((await server.client.acl('LOG')) as unknown[]).length > 0, {
        what: 'a rejected password',
      });
      expect(await works()).toBe(false);
      secret.exchange({ redis: textOf('second') });
      await eventually(works, { what: 'a connection with the new password' });
    });
    expect(logged.map(({ message }) => message)).toContain('Redis is unreachable; continuing without it');
  } finally {
    await store.stop();
  }
});

itWithRedis('rotates the passwords of sentinels and server without a restart', async () => {
  server = await startOwnRedis({ password: 'first' });
  const sentinel = await startOwnRedis({
    ...{ password: 'watcher', isSentinel: true },
    settings: [`sentinel monitor events 127.0.0.1 ${server.port} 1`, 'sentinel auth-pass events first'],
  });
  secret = mountSecret({ redis: 'first', sentinel: 'watcher' });
  const settings = {
    ...{ REDIS_URL: `redis://127.0.0.1:${sentinel.port}`, REDIS_MODE: 'sentinel', REDIS_SENTINEL_MASTER: 'events' },
    ...{ REDIS_PASSWORD_FILE: secret.file('redis'), REDIS_SENTINEL_PASSWORD_FILE: secret.file('sentinel') },
  };
  const connection = toRedisConnection(readConfig(Type.Object(redisConfigFields), settings));
  if (connection === undefined) throw new Error('There is no connection.');
  const store = createRedisStore(connection, logger, { commandTimeoutMs: patienceMs, silenceTimeoutMs: patienceMs });
  const works = () =>
    store.set('key', 'value', 60).then(
      () => true,
      () => false,
    );
  const cut = ({ client }: OwnRedis) => client.call('CLIENT', 'KILL', 'TYPE', 'normal');
  const refusals = async ({ client }: OwnRedis) => ((await client.acl('LOG')) as unknown[]).length;
  try {
    await eventually(works, { what: 'the first connection' });
    await keepLogs(logger, async () => {
      await sentinel.client.acl('SETUSER', 'default', 'resetpass', '>watcher-two');
      await cut(sentinel);
      // The driver is still connected to the server, so it does not need the sentinel yet.
      expect(await works()).toBe(true);
      await cut(server);
      await eventually(async () => (await refusals(sentinel)) > 0, { what: 'a refusal by the sentinel' });
      expect(await works()).toBe(false);
      secret.exchange({ redis: 'first', sentinel: 'watcher-two' });
      await eventually(works, { what: 'a connection by the new password of the sentinel' });

      await server.client.config('SET', 'requirepass', 'second');
      await sentinel.client.call('SENTINEL', 'SET', 'events', 'auth-pass', 'second');
      await cut(server);
      await eventually(async () => (await refusals(server)) > 0, { what: 'a refusal by the server' });
      expect(await works()).toBe(false);
      secret.exchange({ redis: 'second', sentinel: 'watcher-two' });
      await eventually(works, { what: 'a connection by the new password of the server' });
    });
  } finally {
    await store.stop();
    await sentinel.stop();
  }
});

itWithRedis(
  'a client that loses permission to subscribe keeps working, and receives messages again on the first connection that has the permission',
  async () => {
    server = await startOwnRedis({ password: 'first' });
    secret = mountSecret({});
    const store = createRedisStore(`redis://:first@${place()}`, logger, { commandTimeoutMs: patienceMs });
    const heard: string[] = [];
    const expectToHear = async (message: string) =>
      eventually(
        async () => {
          await store.publish('channel', message);
          return heard.includes(message);
        },
        { what: `the message ${message}` },
      );
    try {
      await eventually(() => store.isHealthy(), { what: 'the connection' });
      await store.subscribe('channel', (message) => void heard.push(message));
      await expectToHear('first');
      await keepLogs(logger, async () => {
        // Removing the channel permission makes Redis close connections with subscriptions.
        await server.client.acl('SETUSER', 'default', 'resetchannels');
        await eventually(async () => ((await server.client.acl('LOG')) as unknown[]).length > 0, {
          what: 'a denied command',
        });
        expect(await store.get('key')).toBeNull();
        await server.client.acl('SETUSER', 'default', 'allchannels');
        await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal');
        await expectToHear('second');
      });
    } finally {
      await store.stop();
    }
  },
);
