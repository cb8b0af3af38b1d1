import { mountSecret } from '@millrace/testing';
import { Type } from 'typebox';
import { ConfigError, integerSetting, readConfig } from './config.ts';
import { toEnvironmentVariable } from './environment.ts';
import { readTimePerConnection, secretSetting } from './secret-setting.ts';

const schema = Type.Object({
  ingestPort: integerSetting(8000, 'a TCP port', { max: 65_535 }),
  databaseUrl: Type.String({ description: 'postgresql://…' }),
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], { default: 'kafka' }),
  trustProxy: Type.Boolean({ default: true }),
  sampleRate: Type.Number({ default: 0.5, minimum: 0, maximum: 1 }),
  redisUrl: Type.Optional(Type.String()),
});
const required = { DATABASE_URL: 'postgresql://x' };

test.each([
  ['drainTimeoutMs', 'DRAIN_TIMEOUT_MS'],
  ['port', 'PORT'],
  ['maxBatch2Bytes', 'MAX_BATCH2_BYTES'],
])('reads the config field %s from %s', (field, name) => {
  expect(toEnvironmentVariable(field)).toBe(name);
});

test('a config contains the defaults of unset variables, and omits optional fields without a value', () => {
  expect(readConfig(schema, required)).toEqual({
    ingestPort: 8000,
    databaseUrl: 'postgresql://x',
    eventLog: 'kafka',
    trustProxy: true,
    sampleRate: 0.5,
  });
});

test('a config treats an empty or blank variable as unset', () => {
  const config = readConfig(schema, { ...required, INGEST_PORT: '', TRUST_PROXY: '  ', REDIS_URL: '' });
  expect(config).toMatchObject({ ingestPort: 8000, trustProxy: true });
  expect(config).not.toHaveProperty('redisUrl');
  expect(() => readConfig(schema, { DATABASE_URL: '' })).toThrow('DATABASE_URL is required (postgresql://…)');
});

test('a config is frozen and contains no unknown variables', () => {
  const config = readConfig(schema, { ...required, PATH: '/bin' });
  expect(Object.isFrozen(config)).toBe(true);
  expect(config).not.toHaveProperty('path');
});

test.each([
  ['INGEST_PORT', '0', { ingestPort: 0 }],
  ['INGEST_PORT', ' 65535 ', { ingestPort: 65_535 }],
  ['TRUST_PROXY', 'false', { trustProxy: false }],
  ['TRUST_PROXY', '0', { trustProxy: false }],
  ['TRUST_PROXY', '1', { trustProxy: true }],
  ['SAMPLE_RATE', '0.25', { sampleRate: 0.25 }],
  ['EVENT_LOG', 'postgres', { eventLog: 'postgres' }],
  ['REDIS_URL', '123', { redisUrl: '123' }],
])('a config accepts %s=%j', (name, text, expected) => {
  expect(readConfig(schema, { ...required, [name]: text })).toMatchObject(expected);
});

const wrong: [string, string, string][] = [
  ['INGEST_PORT', '65536', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', '-1', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', '80.5', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', '0x50', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', 'true', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', '8000;', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['INGEST_PORT', '99999999999999999999', 'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)'],
  ['TRUST_PROXY', 'yes', 'TRUST_PROXY must be true or false'],
  ['SAMPLE_RATE', '2', 'SAMPLE_RATE must be a number from 0 to 1'],
  ['EVENT_LOG', 'Kafka', 'EVENT_LOG must be one of kafka, postgres'],
];

test.each(wrong)('a config rejects %s=%j', (name, text, problem) => {
  expect(problemsOf({ ...required, [name]: text })).toEqual([problem]);
});

test('reports all problems of a config together, without values', () => {
  const secret = 'postgresql://user:secret@host/db';
  const env = { INGEST_PORT: 'eighty', TRUST_PROXY: 'maybe', EVENT_LOG: secret };
  expect(problemsOf(env)).toEqual([
    'INGEST_PORT must be a whole number from 0 to 65535 (a TCP port)',
    'DATABASE_URL is required (postgresql://…)',
    'EVENT_LOG must be one of kafka, postgres',
    'TRUST_PROXY must be true or false',
  ]);
  expect(() => readConfig(schema, env)).toThrow(/4 problems:\n {2}- INGEST_PORT/);
  expect(() => readConfig(schema, env)).not.toThrow('secret');
});

describe('config secrets in files', () => {
  const withSecret = Type.Object({
    ...schema.properties,
    ...secretSetting('databaseUrl', Type.String(), readTimePerConnection),
  });
  const secret = mountSecret({ url: 'postgresql://in-file\n', empty: ' \n' });
  afterAll(() => secret.remove());

  test('reads a secret from a file, without its trailing line break', () => {
    expect(readConfig(withSecret, { DATABASE_URL_FILE: secret.file('url') })).toMatchObject({
      databaseUrl: 'postgresql://in-file',
      databaseUrlFile: secret.file('url'),
    });
  });

  test.each([
    [{ DATABASE_URL_FILE: '/nowhere' }, 'DATABASE_URL_FILE: the file cannot be read (ENOENT)'],
    [{ DATABASE_URL_FILE: secret.file('empty') }, 'DATABASE_URL_FILE: the file is empty'],
    [
      { DATABASE_URL: 'postgresql://hush', DATABASE_URL_FILE: secret.file('url') },
      'DATABASE_URL and DATABASE_URL_FILE are both set. Remove one of them',
    ],
  ])('rejects the secret settings %j', (env, problem) => {
    expect(() => readConfig(withSecret, env)).toThrow(problem);
    expect(() => readConfig(withSecret, env)).not.toThrow('hush');
  });
});

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('The configuration should have been refused.');
}
