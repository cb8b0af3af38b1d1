import { createLogger } from '@millrace/runtime';
import { eventually, startTlsProxy, type TestCertificate, testCertificates, testServers } from '@millrace/testing';
import { createRedisKeyValue } from './redis.ts';
import { redisConnection } from './redis-config.ts';

const { authorityFile, otherAuthorityFile } = testCertificates;
/** How a client that speaks TLS begins: with the type of its first message (22). */
const handshake = String.fromCharCode(22);

test.each([
  [{}, undefined],
  [{ redisUrl: 'redis://a:6379' }, { url: 'redis://a:6379' }],
  [{ redisUrl: 'rediss://a:6379/1' }, { url: 'rediss://a:6379/1', tls: { rejectUnauthorized: true } }],
  [
    { redisUrl: 'rediss://a', redisCaFile: authorityFile },
    { url: 'rediss://a', tls: { rejectUnauthorized: true, ca: expect.stringContaining('BEGIN CERTIFICATE') } },
  ],
])('%j', (config, connection) => {
  expect(redisConnection(config)).toEqual(connection);
});

test.each([
  [{ redisUrl: 'redis://:secret@a', redisCaFile: authorityFile }, 'would go in the clear'],
  [{ redisCaFile: authorityFile }, 'REDIS_CA_FILE is set'],
  [{ redisUrl: 'rediss://:secret@a', redisCaFile: '/nowhere.pem' }, 'cannot be read (ENOENT)'],
  [{ redisUrl: 'redis://:secret@a?tls=true' }, 'by rediss:// only'],
])('%j is refused', (config, problem) => {
  expect(() => redisConnection(config)).toThrow(problem);
  expect(() => redisConnection(config)).not.toThrow('secret');
});

describe('a server behind TLS', () => {
  const target = new URL(testServers().redisUrl);

  /** What came of a first connection: `ready`, or why not. */
  async function tried(certificate: TestCertificate | null, redisCaFile?: string): Promise<string> {
    const behind = { host: target.hostname, port: Number(target.port || 6379) };
    const proxy = await startTlsProxy({ target: behind, protocol: 'tls', certificate });
    const said: unknown[] = [];
    const logger = createLogger('test', 'error');
    Object.assign(logger, { warn: (_message: string, facts: { error: unknown }) => said.push(facts.error) });
    const connection = redisConnection({
      redisUrl: `rediss://127.0.0.1:${proxy.port}`,
      ...(redisCaFile && { redisCaFile }),
    });
    if (connection === undefined) throw new Error('There is no connection.');
    const store = createRedisKeyValue(connection, logger);
    await eventually(() => store.isHealthy() || said.length > 0, { what: 'the end of connecting' });
    const outcome = store.isHealthy() ? 'ready' : String((said[0] as { code?: string }).code);
    if (store.isHealthy()) await store.set('tls', 'x', 1);
    await store.stop();
    await proxy.stop();
    expect(['', handshake]).toContain(proxy.inTheClear().slice(0, 1));
    return outcome;
  }

  test('is used when its certificate is right', async () => {
    expect(await tried(testCertificates.ofThisHost(), authorityFile)).toBe('ready');
  });

  test.each([
    ['of another host', testCertificates.ofOtherHost(), authorityFile, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['of another authority', testCertificates.ofThisHost(), otherAuthorityFile, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['of an unknown authority', testCertificates.ofThisHost(), undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('with a certificate %s is refused', async (_what, certificate, file, code) => {
    expect(await tried(certificate, file)).toBe(code);
  });

  test('that has no certificate gets a handshake and no command', async () => {
    expect(await tried(null, authorityFile)).not.toBe('ready');
  });
});
