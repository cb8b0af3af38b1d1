// The environment variables for the services that `npm start` runs.

import type { ServicePorts } from './ports.ts';

/** Addresses of the servers that the services use. If there are no Kafka brokers, PostgreSQL stores the event log. */
export interface ServiceSettings {
  databaseUrl: string;
  kafkaBrokers?: string;
  redisUrl?: string;
  secretsKey: string;
}

const loopback = '127.0.0.1';

const hostVariable = { ingest: 'INGEST_HOST', api: 'API_HOST', health: 'HEALTH_HOST' };

/** Returns the local URL of a service that listens on `…_HOST` and `port`. */
export function buildServiceUrl(
  env: Record<string, string | undefined>,
  name: keyof ServicePorts,
  port: number,
): string {
  const host = env[hostVariable[name]] || loopback;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `http://${isEverywhere ? loopback : host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the console's URL, which passkeys and sign-in providers are bound to. The URL contains a host name, because a
 * passkey cannot belong to an IP address. Returns undefined if the API also listens on other IP addresses, because only
 * the operator knows its public URL.
 */
export function buildPublicApiUrl(env: Record<string, string | undefined>, port: number): string | undefined {
  if (env.PUBLIC_API_URL) return env.PUBLIC_API_URL;
  return ['127.0.0.1', '::1', 'localhost'].includes(env.API_HOST || loopback) ? `http://localhost:${port}` : undefined;
}

/** Returns the server settings as environment variables that the services and the `millrace` command read. */
export function toStorageSettings(
  env: Record<string, string | undefined>,
  { databaseUrl, kafkaBrokers, redisUrl, secretsKey }: ServiceSettings,
): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    EVENT_LOG: kafkaBrokers ? 'kafka' : 'postgres',
    ...(kafkaBrokers && { KAFKA_BROKERS: kafkaBrokers }),
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ...(env.TOPIC_PREFIX && { TOPIC_PREFIX: env.TOPIC_PREFIX }),
    SECRETS_KEY: env.SECRETS_KEY || secretsKey,
  };
}

/** Does the reverse of `toStorageSettings`. */
export const toServiceSettings = (settings: Record<string, string>): ServiceSettings => ({
  databaseUrl: settings.DATABASE_URL ?? '',
  secretsKey: settings.SECRETS_KEY ?? '',
  ...(settings.KAFKA_BROKERS && { kafkaBrokers: settings.KAFKA_BROKERS }),
  ...(settings.REDIS_URL && { redisUrl: settings.REDIS_URL }),
});

/**
 * Returns the services' environment variables: the user's own variables, so that any setting can be tried, and the
 * addresses and ports of the servers. By default, services listen only on loopback, because everyone who sees the
 * terminal sees the demo key.
 */
export function buildServiceEnvironment(
  env: Record<string, string | undefined>,
  settings: ServiceSettings,
  { ingest, api, health }: ServicePorts,
): Record<string, string | undefined> {
  return {
    ...env,
    NODE_ENV: 'production',
    // Return the memory of large request bodies to the operating system, as in the container image.
    MALLOC_MMAP_THRESHOLD_: '262144',
    NODE_OPTIONS: undefined,
    KAFKA_BROKERS: undefined,
    REDIS_URL: undefined,
    ...toStorageSettings(env, settings),
    // On a developer's machine, webhook and warehouse destinations are likely to be on the same machine.
    ALLOW_PRIVATE_DESTINATIONS: env.ALLOW_PRIVATE_DESTINATIONS || 'true',
    // Stop without a delay, because no load balancer has to notice the shutdown.
    STOP_DELAY_MS: env.STOP_DELAY_MS || '0',
    // Live events and `millrace tail` require this setting. Its cost does not matter on a developer's machine.
    PUBLISH_PROCESSED: env.PUBLISH_PROCESSED || 'on',
    PUBLIC_API_URL: buildPublicApiUrl(env, api),
    // The API requests flag definitions from this URL and sends test events to it.
    INGEST_URL: env.INGEST_URL || buildServiceUrl(env, 'ingest', ingest),
    // The console shows this URL as the one for sending events. Its port differs from that of the console.
    PUBLIC_INGEST_URL: env.PUBLIC_INGEST_URL || buildServiceUrl(env, 'ingest', ingest),
    INGEST_PORT: String(ingest),
    API_PORT: String(api),
    HEALTH_PORT: String(health),
    ...Object.fromEntries(Object.values(hostVariable).map((name) => [name, env[name] || loopback])),
  };
}
