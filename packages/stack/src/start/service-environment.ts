import type { ServiceName } from '../build/programs.ts';

/** Where the services find what they stand on. Without brokers they use the log inside PostgreSQL. */
export interface ServiceSettings {
  databaseUrl: string;
  kafkaBrokers?: string;
  redisUrl?: string;
  /** Encrypts the secrets of batch exports. */
  secretsKey: string;
}

const loopback = '127.0.0.1';

const portVariable: Record<ServiceName, string> = {
  'ingest-gateway': 'INGEST_PORT',
  'management-api': 'API_PORT',
  'event-consumer': 'HEALTH_PORT',
  'delivery-worker': 'HEALTH_PORT',
};
const hostVariable: Record<ServiceName, string> = {
  'ingest-gateway': 'INGEST_HOST',
  'management-api': 'API_HOST',
  'event-consumer': 'HEALTH_HOST',
  'delivery-worker': 'HEALTH_HOST',
};

/** Where a service that listens on `…_HOST` and `port` is reached from this machine. */
export function serviceUrl(env: Record<string, string | undefined>, name: ServiceName, port: number): string {
  const host = env[hostVariable[name]] || loopback;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `http://${isEverywhere ? loopback : host.includes(':') ? `[${host}]` : host}:${port}`;
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
 * A service's environment: the person's own, so that any setting can be tried, with addresses and port put in. It listens
 * on loopback unless told otherwise: the demo's key is no secret to whoever looks over your shoulder.
 */
export function serviceEnvironment(
  env: Record<string, string | undefined>,
  settings: ServiceSettings,
  { name, port }: { name: ServiceName; port: number },
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
    // For `millrace tail`.
    PUBLISH_PROCESSED: env.PUBLISH_PROCESSED || 'on',
    [portVariable[name]]: String(port),
    [hostVariable[name]]: env[hostVariable[name]] || loopback,
  };
}
