import { createLogger, readEnvironment } from '@millrace/runtime';
import { startTlsProxy, type TestCertificate, testCertificates, testServers } from '@millrace/testing';
import { toClientConfig } from './connection-config.ts';
import { migrate } from './migrations/migrate.ts';
import { createSqlDatabase } from './sql-database.ts';

const logger = createLogger('test', 'error');
const { authorityFile, otherAuthorityFile, noCertificateFile } = testCertificates;
const address = 'postgresql://u:secret@db.example:5432/app';

describe('toClientConfig', () => {
  const sslOf = (query: string, env = {}) => toClientConfig(`${address}${query}`, env).ssl;

  test.each([
    ['', false],
    ['?sslmode=disable', false],
    ['?ssl=false', false],
    ['?application_name=x', false],
    ['?sslmode=verify-full', { rejectUnauthorized: true }],
    ['?sslmode=verify-ca', { rejectUnauthorized: true }],
    ['?sslmode=require', { rejectUnauthorized: true }],
    ['?sslmode=prefer', { rejectUnauthorized: true }],
    ['?ssl=true&sslmode=require', { rejectUnauthorized: true }],
    ['?sslmode=no-verify', { rejectUnauthorized: false }],
    [`?sslrootcert=${authorityFile}`, { rejectUnauthorized: true, ca: expect.stringContaining('BEGIN CERTIFICATE') }],
  ])('reads the TLS settings from the URL parameters %s', (query, ssl) => {
    expect(sslOf(query)).toEqual(ssl);
  });

  test('keeps URL parameters that are not about TLS', () => {
    const { connectionString } = toClientConfig(`${address}?sslmode=require&application_name=a%20b`, {});
    expect(connectionString).toBe(`${address}?application_name=a%20b`);
  });

  test('uses environment variables only for TLS parameters that the URL does not set', () => {
    const env = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: authorityFile };
    expect(sslOf('', env)).toMatchObject({ rejectUnauthorized: true, ca: expect.any(String) });
    expect(sslOf('?sslmode=disable', { PGSSLMODE: 'verify-full' })).toBe(false);
    expect(() => sslOf('', { PGSSLMODE: 'verify-ful' })).toThrow('sslmode must be one of');
  });

  test.each([
    ['?sslmode=verify-ful', 'sslmode must be one of verify-full'],
    ['?sslmode=allow', 'sslmode must be one of'],
    ['?sslmode=', 'sslmode in the database URL is empty'],
    ['?sslMode=verify-full', 'sslMode in the database URL is not supported'],
    ['?ssl_mode=verify-full', 'ssl_mode in the database URL'],
    ['?tls=true', 'tls in the database URL'],
    ['?requiressl=1', 'requiressl in the database URL'],
    ['?uselibpqcompat=true&sslmode=require', 'uselibpqcompat in the database URL'],
    ['?sslmode=verify-full&sslmode=disable', 'twice'],
    ['?ssl=yes', 'ssl must be true or false'],
    ['?ssl=false&sslmode=require', 'ssl=false and sslmode=require contradict'],
    ['?ssl=true&sslmode=disable', 'ssl=true and sslmode=disable contradict'],
    [`?sslmode=disable&sslrootcert=${authorityFile}`, 'TLS is off, but sslrootcert'],
    ['?sslmode=disable&sslnegotiation=direct', 'TLS is off, but sslnegotiation'],
    ['?sslnegotiation=later', 'sslnegotiation must be'],
    [`?sslmode=no-verify&sslrootcert=${authorityFile}`, 'does not check certificates'],
    [`?sslmode=verify-full&sslcert=${authorityFile}`, 'must be set together'],
    ['?sslrootcert=/nowhere.pem', 'cannot be read (ENOENT)'],
    [`?sslrootcert=${noCertificateFile}`, 'not in PEM format'],
  ])('rejects the URL parameters %s', (query, problem) => {
    expect(() => sslOf(query)).toThrow(problem);
    expect(() => sslOf(query)).not.toThrow('secret');
  });
});

describe('connecting to a PostgreSQL server with TLS', () => {
  const target = new URL(testServers().databaseUrl);

  async function tried(certificate: TestCertificate | null, query: string, host = '127.0.0.1') {
    const behind = { host: target.hostname, port: Number(target.port || 5432) };
    const proxy = await startTlsProxy({ target: behind, protocol: 'postgres', certificate });
    const url = new URL(target);
    url.host = `${host}:${proxy.port}`;
    const database = createSqlDatabase({ url: `${url}${query}`, logger, poolSize: 1 });
    try {
      const [row] = await database.sql.query<{ one: number }>('SELECT 1 AS one');
      return { outcome: row?.one, plaintextReceived: proxy.plaintextReceived() };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return { outcome: code ?? message, plaintextReceived: proxy.plaintextReceived() };
    } finally {
      await database.stop();
      await proxy.stop();
    }
  }
  const ofThisHost = testCertificates.ofThisHost();
  const fromAuthority = `?sslmode=verify-full&sslrootcert=${authorityFile}`;

  test.each(['127.0.0.1', 'localhost'])('accepts a valid server certificate for %s', async (host) => {
    expect(await tried(ofThisHost, fromAuthority, host)).toEqual({ outcome: 1, plaintextReceived: '' });
  });

  test.each([
    ['for another host', testCertificates.ofOtherHost(), fromAuthority, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['from an unknown authority', ofThisHost, '?sslmode=verify-full', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['from another authority', ofThisHost, `?sslrootcert=${otherAuthorityFile}`, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    [
      'for another host, with sslmode=require',
      testCertificates.ofOtherHost(),
      `?sslmode=require&sslrootcert=${authorityFile}`,
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
  ])('rejects a server certificate %s', async (_what, certificate, query, code) => {
    expect(await tried(certificate, query)).toEqual({ outcome: code, plaintextReceived: '' });
  });

  test.each(['verify-full', 'require', 'prefer', 'no-verify'])(
    'sends no unencrypted data to a server that does not offer TLS: sslmode=%s',
    async (mode) => {
      const outcome = 'The server does not support SSL connections';
      expect(await tried(null, `?sslmode=${mode}`)).toEqual({ outcome, plaintextReceived: '' });
    },
  );

  test('rejects an invalid certificate even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    const env = readEnvironment();
    const found = env.NODE_TLS_REJECT_UNAUTHORIZED;
    env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect((await tried(testCertificates.ofOtherHost(), fromAuthority)).outcome).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    } finally {
      if (found === undefined) delete env.NODE_TLS_REJECT_UNAUTHORIZED;
      else env.NODE_TLS_REJECT_UNAUTHORIZED = found;
    }
  });

  test('`migrate` connects with the same TLS settings', async () => {
    const proxy = await startTlsProxy({
      target: { host: '127.0.0.1', port: 1 },
      protocol: 'postgres',
      certificate: null,
    });
    const url = `postgresql://u:secret@127.0.0.1:${proxy.port}/app`;
    await expect(migrate(`${url}?sslmode=verify-full`, '/nowhere')).rejects.toThrow('does not support SSL');
    await expect(migrate(`${url}?sslMode=verify-full`, '/nowhere')).rejects.toThrow('is not supported');
    expect(proxy.plaintextReceived()).toBe('');
    await proxy.stop();
  });
});
