import { eventually, startTlsProxy, type TestCertificate, testCertificates, testServers } from '@millrace/testing';
import { createLogger } from '../logger.ts';
import { createRedisStore } from './redis.ts';
import { toRedisConnection } from './redis-config.ts';

const { authorityFile, otherAuthorityFile } = testCertificates;
/** The first byte of a TLS handshake. */
const handshake = String.fromCharCode(22);

test.each([
  [{}, undefined],
  [{ redisUrl: 'redis://a' }, { nodes: [{ host: 'a', port: 6379 }] }],
  [{ redisUrl: 'redis://[::1]:7000' }, { nodes: [{ host: '::1', port: 7000 }] }],
  [
    { redisUrl: 'redis://u:p%40w@a:1/2' },
    { nodes: [{ host: 'a', port: 1 }], username: 'u', password: 'p@w', database: 2 },
  ],
  [
    { redisUrl: 'redis://:p@a:1/', redisUsername: 'u' },
    { nodes: [{ host: 'a', port: 1 }], username: 'u', password: 'p' },
  ],
  [
    { redisUrl: 'redis://a:1', redisPassword: 'p@w/' },
    { nodes: [{ host: 'a', port: 1 }], password: 'p@w/' },
  ],
  [
    { redisUrl: 'rediss://a:6379/1' },
    { nodes: [{ host: 'a', port: 6379 }], database: 1, tls: { rejectUnauthorized: true } },
  ],
  [
    { redisUrl: 'redis://a:1,b', redisMode: 'cluster' as const },
    {
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
      isCluster: true,
    },
  ],
  [
    { redisUrl: 'redis://a:1,b:2', redisMode: 'sentinel' as const, redisSentinelPassword: 's' },
    {
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      sentinel: { master: 'mymaster' },
      sentinelPassword: 's',
    },
  ],
  [
    { redisUrl: 'rediss://a', redisCaFile: authorityFile },
    {
      nodes: [{ host: 'a', port: 6379 }],
      tls: { rejectUnauthorized: true, secureContext: expect.anything() },
    },
  ],
])('toRedisConnection reads %j', (config, expected) => {
  const connection = toRedisConnection(config);
  const { credentials, ...place } = connection ?? { credentials: () => ({}) };
  expect(connection && { ...place, ...credentials() }).toEqual(expected);
});

test.each([
  [{ redisUrl: 'redis://:secret@a', redisCaFile: authorityFile }, 'would not be encrypted'],
  [{ redisCaFile: authorityFile }, 'REDIS_CA_FILE is set'],
  [{ redisUrl: 'rediss://:secret@a', redisCaFile: '/nowhere.pem' }, 'cannot be read (ENOENT)'],
  [{ redisUrl: 'redis://:secret@a?tls=true' }, 'Start it with rediss:// to use TLS'],
  [{ redisUrl: 'redis://:secret@a?family=6' }, 'must not contain parameters after a ?'],
  [{ redisUrl: 'redis://:secret@a,b' }, 'REDIS_URL contains several servers'],
  [{ redisUrl: 'redis://:secret@a/1', redisMode: 'cluster' as const }, 'has only database 0'],
  [{ redisUrl: 'redis://:secret@a:port' }, 'REDIS_URL must have the form'],
  [{ redisUrl: 'redis://:secret@a', redisPassword: 'secret' }, 'REDIS_PASSWORD is set, but'],
  [{ redisUrl: 'redis://u:secret@a', redisUsername: 'v' }, 'REDIS_USERNAME is set, but'],
  [{ redisUrl: 'redis://:secret@a', redisSentinelPassword: 'secret' }, 'but REDIS_MODE is not sentinel'],
])('rejects the invalid Redis settings %j', (config, problem) => {
  expect(() => toRedisConnection(config)).toThrow(problem);
  expect(() => toRedisConnection(config)).not.toThrow('secret');
});

describe('the TLS connection to Redis', () => {
  /** Returns `ready` if the first connection succeeded, or its error code. */
  async function tried(certificate: TestCertificate | null, redisCaFile?: string): Promise<string> {
    const target = new URL(testServers().redisUrl);
    const behind = { host: target.hostname, port: Number(target.port || 6379) };
    const proxy = await startTlsProxy({ target: behind, protocol: 'tls', certificate });
    const warnings: unknown[] = [];
    const logger = createLogger('test', 'error');
    Object.assign(logger, { warn: (_message: string, facts: { error: unknown }) => warnings.push(facts.error) });
    const connection = toRedisConnection({
      redisUrl: `rediss://127.0.0.1:${proxy.port}`,
      ...(redisCaFile && { redisCaFile }),
    });
    if (connection === undefined) throw new Error('There is no connection.');
    const store = createRedisStore(connection, logger);
    await eventually(() => store.isHealthy() || warnings.length > 0, { what: 'the end of connecting' });
    const outcome = store.isHealthy() ? 'ready' : String((warnings[0] as { code?: string }).code);
    if (store.isHealthy()) await store.set('tls', 'x', 1);
    await store.stop();
    await proxy.stop();
    expect(['', handshake]).toContain(proxy.plaintextReceived().slice(0, 1));
    return outcome;
  }

  test('connects to a Redis server with a valid certificate', async () => {
    expect(await tried(testCertificates.ofThisHost(), authorityFile)).toBe('ready');
  });

  test.each([
    ['for another host', testCertificates.ofOtherHost(), authorityFile, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['from another authority', testCertificates.ofThisHost(), otherAuthorityFile, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['from an unknown authority', testCertificates.ofThisHost(), undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('rejects a Redis server whose certificate is %s', async (_what, certificate, file, code) => {
    expect(await tried(certificate, file)).toBe(code);
  });

  test('sends no command to a Redis server without a certificate, only a TLS handshake', async () => {
    expect(await tried(null, authorityFile)).not.toBe('ready');
  });
});
