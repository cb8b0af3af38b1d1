import { basename } from 'node:path';
import { buildDatabaseAddress } from '@millrace/db';
import { toKafkaConnection } from '@millrace/event-log';
import { readConfig, toEnvironmentVariable } from '@millrace/runtime';
import { toRedisConnection } from '@millrace/runtime/cache';
import { readConfigSchemas } from '@millrace/stack/docs/configuration';
import { mountSecret, testCertificates } from '@millrace/testing';
import { type TProperties, Type } from 'typebox';
import { getContainer, type Manifest } from './testing/manifest.ts';
import { filterByKind, listExampleNames, renderChart, root } from './testing/render-chart.ts';
import { variants } from './testing/variants.ts';

type Config = Parameters<typeof buildDatabaseAddress>[0] &
  Parameters<typeof toRedisConnection>[0] &
  Parameters<typeof toKafkaConnection>[0];

const inSecrets: Record<string, string> = {
  DATABASE_URL: 'postgresql://u:p@host:5432/db',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};

const mounted = mountSecret({
  ...inSecrets,
  DATABASE_USER: 'u',
  DATABASE_PASSWORD: 'p',
  KAFKA_SASL_USERNAME: 'u',
  REDIS_URL: 'redis://r',
  KAFKA_SASL_PASSWORD: 'p',
  REDIS_PASSWORD: 'p',
  REDIS_SENTINEL_PASSWORD: 's',
  SMTP_URL: 'smtp://mail',
  TOKEN_SECRET: 'long enough for tokens',
});
afterAll(() => mounted.remove());

function seenBy(deployment: Manifest, secrets: Manifest[]): Record<string, string> {
  const variables = getContainer(deployment).env.map(({ name, value, valueFrom }) => {
    if (value?.startsWith('/etc/millrace/certificates/')) return [name, testCertificates.authorityFile];
    if (value?.startsWith('/etc/millrace/secrets/')) return [name, mounted.file(basename(value))];
    if (value !== undefined) return [name, value];
    const { name: secret, key } = valueFrom?.secretKeyRef ?? { name: '', key: '' };
    const made = secrets.find(({ metadata }) => metadata.name === secret)?.data?.[key];
    return [name, made === undefined ? (inSecrets[name] ?? 'a-secret-of-theirs') : atob(made)];
  });
  return Object.fromEntries(variables);
}

const rendered: [string, Parameters<typeof renderChart>[0]][] = [
  ...variants.map((values, at) => [`variant ${at}`, { values }] as [string, object]),
  ...(await listExampleNames()).map((name) => [`examples/${name}.yaml`, { examples: [name] }] as [string, object]),
];

test.each(rendered)('services accept the environment variables that the chart renders from %s', async (_, options) => {
  const manifests = await renderChart(options);
  const schemas: Record<string, { properties: object }> = await readConfigSchemas(root);
  for (const deployment of filterByKind(manifests, 'Deployment')) {
    const environment = seenBy(deployment, filterByKind(manifests, 'Secret'));
    const properties = schemas[getContainer(deployment).name]?.properties as TProperties;
    expect(Object.keys(environment).filter((name) => !names(properties).includes(name))).toEqual([]);
    const config = readConfig(Type.Object(properties), environment) as Config;
    expect(new URL(buildDatabaseAddress(config)).username).not.toBe('');
    toRedisConnection(config);
    if (environment.KAFKA_BROKERS !== undefined) toKafkaConnection(config);
  }
});

const names = (properties: object) => Object.keys(properties).map(toEnvironmentVariable);
