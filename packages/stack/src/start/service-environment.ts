import type { ServicePorts } from './ports.ts';

/** Where the services find what they stand on. Without brokers they use the log inside PostgreSQL. */
export interface ServiceSettings {
  databaseUrl: string;
  kafkaBrokers?: string;
  redisUrl?: string;
  /** Encrypts the secrets of batch exports. */
  secretsKey: string;
}

const loopback = '127.0.0.1';

const hostVariable = { ingest: 'INGEST_HOST', api: 'API_HOST', health: 'HEALTH_HOST' };

/** Where a service that listens on `…_HOST` and `port` is reached from this machine. */
export function serviceUrl(env: Record<string, string | undefined>, name: keyof ServicePorts, port: number): string {
  const host = env[hostVariable[name]] || loopback;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `http://${isEverywhere ? loopback : host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The address of the console, to which passkeys and sign-in providers are bound: a name, because a passkey cannot belong to an
 * IP address. Undefined if the API listens beyond this machine: then only the operator knows how people reach it.
 */
export function publicApiUrl(env: Record<string, string | undefined>, port: number): string | undefined {
  if (env.PUBLIC_API_URL) return env.PUBLIC_API_URL;
  return ['127.0.0.1', '::1', 'localhost'].includes(env.API_HOST || loopback) ? `http://localhost:${port}` : undefined;
}

/** What all services are told of what they stand on, as they and the `millrace` command read it. */
export function storageSettings(
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

/**
 * The environment of the services: the person's own, so that any setting can be tried, with addresses and ports put in. They listen
 * on loopback unless told otherwise: the demo's key is no secret to whoever looks over your shoulder.
 */
export function serviceEnvironment(
  env: Record<string, string | undefined>,
  settings: ServiceSettings,
  { ingest, api, health }: ServicePorts,
): Record<string, string | undefined> {
  return {
    ...env,
    NODE_ENV: 'production',
    // As in the image: the memory of large bodies is given back to the system.
    MALLOC_MMAP_THRESHOLD_: '262144',
    NODE_OPTIONS: undefined,
    KAFKA_BROKERS: undefined,
    REDIS_URL: undefined,
    ...storageSettings(env, settings),
    // On one's own machine a webhook or a warehouse is likely to be on that machine.
    ALLOW_PRIVATE_DESTINATIONS: env.ALLOW_PRIVATE_DESTINATIONS || 'true',
    // No balancer has to notice.
    STOP_DELAY_MS: env.STOP_DELAY_MS || '0',
    // For live events and `millrace tail`: nobody measures here what it costs.
    PUBLISH_PROCESSED: env.PUBLISH_PROCESSED || 'on',
    PUBLIC_API_URL: publicApiUrl(env, api),
    // For flag definitions and test events, which the API hands on.
    INGEST_URL: env.INGEST_URL || serviceUrl(env, 'ingest', ingest),
    // The console shows where events go: another port than its own.
    PUBLIC_INGEST_URL: env.PUBLIC_INGEST_URL || serviceUrl(env, 'ingest', ingest),
    ...{ INGEST_PORT: String(ingest), API_PORT: String(api), HEALTH_PORT: String(health) },
    ...Object.fromEntries(Object.values(hostVariable).map((name) => [name, env[name] || loopback])),
  };
}
