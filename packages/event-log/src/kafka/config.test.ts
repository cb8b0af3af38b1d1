import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readConfig } from '@millrace/runtime';
import { testCertificates } from '@millrace/testing';
import { Type } from 'typebox';
import { kafkaConfigFields, toKafkaConnection } from './config.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-kafka-config-'));
const pem = join(directory, 'some.pem');
const text = join(directory, 'some.txt');
const clientCert = join(directory, 'client.pem');
const clientKey = join(directory, 'client-key.pem');
beforeAll(() => {
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  writeFileSync(text, 'not a certificate');
});
afterAll(() => rmSync(directory, { recursive: true }));

const schema = Type.Object({ ...kafkaConfigFields });
const connect = (env: Record<string, string>) => toKafkaConnection(readConfig(schema, env));

function problemsOf(env: Record<string, string>): string[] {
  try {
    connect(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('The settings should have been refused.');
}

test('uses one local Kafka broker without TLS by default', () => {
  expect(connect({})).toEqual({ brokers: ['127.0.0.1:9092'] });
});

test('Kafka settings support TLS with system CAs, a private CA, and a client certificate', () => {
  expect(connect({ KAFKA_BROKERS: 'a:1, b:2', KAFKA_SSL: 'true' })).toEqual({
    brokers: ['a:1', 'b:2'],
    ssl: { rejectUnauthorized: true },
  });
  expect(connect({ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: testCertificates.authorityFile }).ssl).toEqual({
    rejectUnauthorized: true,
    secureContext: expect.anything(),
  });
  const { cert, key } = testCertificates.ofThisHost();
  writeFileSync(clientCert, cert);
  writeFileSync(clientKey, key);
  expect(connect({ KAFKA_SSL: '1', KAFKA_SSL_CERT_FILE: clientCert, KAFKA_SSL_KEY_FILE: clientKey }).ssl).toEqual({
    rejectUnauthorized: true,
    secureContext: expect.anything(),
  });
});

test.each(['plain', 'scram-sha-256', 'scram-sha-512'])('Kafka settings support SASL %s', (mechanism) => {
  const env = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
  expect(connect(env)).toEqual({
    brokers: ['127.0.0.1:9092'],
    sasl: { mechanism, username: 'u', password: 'p' },
  });
});

const wrong: [string, Record<string, string>, string[]][] = [
  [
    'a broker without a port',
    { KAFKA_BROKERS: 'a:1,b' },
    ['KAFKA_BROKERS must be a comma-separated list of host:port addresses'],
  ],
  [
    'an empty entry in the list',
    { KAFKA_BROKERS: 'a:1,' },
    ['KAFKA_BROKERS must be a comma-separated list of host:port addresses'],
  ],
  [
    'an IPv6 address, which the client would read as the host [',
    { KAFKA_BROKERS: 'a:1,[fd00::1]:9092' },
    ['KAFKA_BROKERS contains an IPv6 address. Use a host name that resolves to it instead'],
  ],
  [
    'a port out of range',
    { KAFKA_BROKERS: 'a:70000' },
    ['KAFKA_BROKERS must be a comma-separated list of host:port addresses'],
  ],
  [
    'files without TLS',
    { KAFKA_SSL_CA_FILE: pem },
    ['KAFKA_SSL must be true if KAFKA_SSL_CA_FILE, KAFKA_SSL_CERT_FILE or KAFKA_SSL_KEY_FILE is set'],
  ],
  [
    'a certificate without its key',
    { KAFKA_SSL: 'true', KAFKA_SSL_CERT_FILE: pem },
    ['KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE must be set together'],
  ],
  [
    'a missing file, and one with other content',
    { KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: '/nowhere/ca.pem', KAFKA_SSL_CERT_FILE: text, KAFKA_SSL_KEY_FILE: pem },
    ['KAFKA_SSL_CA_FILE: the file cannot be read (ENOENT)', 'KAFKA_SSL_CERT_FILE: the file is not in PEM format'],
  ],
  [
    'a user without mechanism and password',
    { KAFKA_SASL_USERNAME: 'u' },
    [
      'KAFKA_SASL_MECHANISM is required if KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is set',
      'KAFKA_SASL_PASSWORD is required for SASL',
    ],
  ],
  [
    'a mechanism without user and password',
    { KAFKA_SASL_MECHANISM: 'plain' },
    ['KAFKA_SASL_USERNAME is required for SASL', 'KAFKA_SASL_PASSWORD is required for SASL'],
  ],
  [
    'an unknown mechanism',
    { KAFKA_SASL_MECHANISM: 'gssapi' },
    [
      'KAFKA_SASL_MECHANISM must be one of plain, scram-sha-256, scram-sha-512 (SASL mechanism, if the brokers require authentication)',
    ],
  ],
  [
    'several mistakes, and reports all',
    { KAFKA_BROKERS: 'x', KAFKA_SSL_KEY_FILE: pem, KAFKA_SASL_PASSWORD: 'secret' },
    [
      'KAFKA_BROKERS must be a comma-separated list of host:port addresses',
      'KAFKA_SSL must be true if KAFKA_SSL_CA_FILE, KAFKA_SSL_CERT_FILE or KAFKA_SSL_KEY_FILE is set',
      'KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE must be set together',
      'KAFKA_SASL_MECHANISM is required if KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is set',
      'KAFKA_SASL_USERNAME is required for SASL',
    ],
  ],
];

test.each(wrong)('rejects the Kafka settings %s', (_, env, problems) => {
  expect(problemsOf(env)).toEqual(problems);
  expect(problemsOf(env).join()).not.toContain('secret');
});
