import { createLogger, readConfig } from '@millrace/runtime';
import { eventually, keepLogs, type MountedSecret, mountSecret } from '@millrace/testing';
import { Type } from 'typebox';
import { createRedisKeyValue } from './redis.ts';
import { redisConfigFields, redisConnection } from './redis-config.ts';
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
    'a password beside the address',
    {},
    (password: string) => password,
    () => ({ REDIS_URL: `redis://${place()}`, REDIS_PASSWORD_FILE: secret.file('redis') }),
  ],
  [
    'an address with a password',
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
])('%s: open connections stay, new ones use the new password', async (_, how, textOf, settings) => {
  server = await startOwnRedis({ password: 'first', ...how });
  if ('settings' in how) await server.client.cluster('ADDSLOTSRANGE', 0, 16_383);
  secret = mountSecret({ redis: textOf('first') });
  const connection = redisConnection(readConfig(Type.Object(redisConfigFields), settings()));
  if (connection === undefined) throw new Error('There is no connection.');
  const store = createRedisKeyValue(connection, logger, { commandTimeoutMs: 2000 });
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
      // All but the connection that asks for it.
      await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await eventually(async () => ((await server.client.acl('LOG')) as unknown[]).length > 0, { what: 'a refusal' });
      expect(await works()).toBe(false);
      secret.exchange({ redis: textOf('second') });
      await eventually(works, { what: 'a connection with the new password' });
    });
    expect(logged.map(({ message }) => message)).toContain('Redis cannot be reached; going on without it');
  } finally {
    await store.stop();
  }
});
