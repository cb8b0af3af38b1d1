import { testServers } from '@millrace/testing';
import pg from 'pg';
import { toClientConfig } from './connection-config.ts';
import { buildDatabaseAddress } from './database-config.ts';

test.each([
  [{ databaseUrl: 'postgresql://u:p@h:5432/d' }, 'postgresql://u:p@h:5432/d'],
  [{ databaseUrl: 'postgresql://h/d', databaseUser: 'u', databasePassword: 'p' }, 'postgresql://u:p@h/d'],
  [{ databaseUrl: 'postgresql://u@h/d', databasePassword: 'a/b@c:d%?#' }, 'postgresql://u:a%2Fb%40c%3Ad%25%3F%23@h/d'],
  [{ databaseUrl: 'postgresql://h/d', databaseUser: 'a b@c' }, 'postgresql://a%20b%40c@h/d'],
  [{ databaseUrl: 'postgresql://h/d', databaseSslMode: 'verify-full' }, 'postgresql://h/d?sslmode=verify-full'],
  [
    { databaseUrl: 'postgresql://h/d?application_name=x', databaseSslMode: 'verify-full', databaseSslCaFile: '/a b' },
    'postgresql://h/d?application_name=x&sslmode=verify-full&sslrootcert=%2Fa%20b',
  ],
  [
    { databaseUrl: 'postgresql://h/d', databaseSslCertFile: '/c', databaseSslKeyFile: '/k' },
    'postgresql://h/d?sslcert=%2Fc&sslkey=%2Fk',
  ],
])('buildDatabaseAddress builds a URL from %j', (config, address) => {
  expect(buildDatabaseAddress(config)).toBe(address);
});

test.each([
  [
    { databaseUrl: 'postgresql://u:secret@h/d', databaseUser: 'v' },
    'DATABASE_USER is set, but DATABASE_URL already contains',
  ],
  [
    { databaseUrl: 'postgresql://u:secret@h/d', databasePassword: 'secret' },
    'DATABASE_PASSWORD is set, but DATABASE_URL already',
  ],
  [{ databaseUrl: 'postgresql://h/d', databasePassword: 'secret' }, 'DATABASE_PASSWORD is set, but neither'],
])('rejects the database settings %j', (config, problem) => {
  expect(() => buildDatabaseAddress(config)).toThrow(problem);
  expect(() => buildDatabaseAddress(config)).not.toThrow('secret');
});

test('connecting fails if TLS settings are both in the URL and in separate settings', () => {
  const databaseUrl = buildDatabaseAddress({
    databaseUrl: 'postgresql://u:p@h/d?sslmode=disable',
    databaseSslMode: 'verify-full',
  });
  expect(() => toClientConfig(databaseUrl, {})).toThrow('sslmode occurs twice in the database URL');
});

test('connects as a role whose password contains characters that are special in URLs', async () => {
  const url = new URL(testServers().databaseUrl);
  const admin = new pg.Client(url.toString());
  await admin.connect();
  const [role, password] = [`odd ${Date.now()}`, 'p@ss:/?#%&="\'ö'];
  await admin.query(`CREATE ROLE ${admin.escapeIdentifier(role)} LOGIN PASSWORD ${admin.escapeLiteral(password)}`);
  url.username = '';
  url.password = '';
  const databaseUrl = buildDatabaseAddress({
    databaseUrl: url.toString(),
    databaseUser: role,
    databasePassword: password,
  });
  const client = new pg.Client(toClientConfig(databaseUrl, {}));
  await client.connect();
  expect((await client.query('SELECT current_user AS name')).rows).toEqual([{ name: role }]);
  await client.end();
  await admin.query(`DROP ROLE ${admin.escapeIdentifier(role)}`);
  await admin.end();
});
