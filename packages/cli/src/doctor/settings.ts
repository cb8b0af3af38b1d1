// A check of `millrace doctor` that finds contradictory settings.

import { fallbackConfigFields } from '@millrace/event-log';
import { integerSetting, secretSetting, secretsKeyConfigFields } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { type Finding, findingsOrOk, problem, warning } from './checks.ts';

export const mailFields = secretSetting(
  'smtpUrl',
  Type.Optional(
    Type.String({
      pattern: '^smtps?://[^\\s/]+',
      description: 'URL of the mail server, for example smtps://user:password@host:port',
    }),
  ),
  'again for each email',
);

/**
 * The settings that doctor checks, except for connections to the stores. The defaults are those in
 * docs/configuration.md.
 */
export const doctorSettingsSchema = Type.Object({
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'event log of the installation',
  }),
  ...fallbackConfigFields,
  topicPrefix: Type.String({ default: '' }),
  topicPartitions: integerSetting(12, 'number of partitions of each topic that Millrace creates', { min: 1 }),
  maxRecordBytes: integerSetting(1_010_000, 'maximum size of an event record in the log, in bytes', {
    min: 1000,
  }),
  maxAiRecordBytes: integerSetting(8_400_000, 'maximum size of an AI event record in the log, in bytes', {
    min: 1000,
  }),
  maxBodyBytes: integerSetting(20 * 1024 * 1024, 'maximum size of a request body before decompression, in bytes', {
    min: 1,
  }),
  maxInFlightBytes: integerSetting(
    256 * 1024 * 1024,
    'maximum total size of the request bodies held in memory at the same time, in bytes',
    { min: 1 },
  ),
  maxDecompressedBytes: integerSetting(
    100 * 1024 * 1024,
    'maximum size of a request body after decompression, in bytes',
    { min: 1 },
  ),
  /**
   * Pool size of the management API and the delivery workers. The setting has no default here, because the two services
   * have different defaults.
   */
  databasePoolSize: Type.Optional(Type.Integer({ minimum: 1 })),
  kafkaSessionTimeoutMs: integerSetting(
    6000,
    "time without a heartbeat after which the other consumers take over a consumer's partitions, in milliseconds",
    { min: 1000 },
  ),
  keepDeletedIdsDays: integerSetting(90, 'number of days to keep hashed distinct IDs of deleted persons', {
    min: 1,
  }),
  publicApiUrl: Type.Optional(Type.String()),
  ingestUrl: Type.Optional(Type.String()),
  apiRequestsPerMinute: integerSetting(480, 'maximum number of requests per minute with one personal API key'),
  apiRequestsPerHour: integerSetting(4800, 'maximum number of requests per hour with one personal API key'),
  /** Optional, because the default depends on the service. Doctor checks the setting only if it is set. */
  trustProxy: Type.Optional(Type.Boolean()),
  proxyHops: integerSetting(1, 'with TRUST_PROXY: number of proxies that append to X-Forwarded-For', { min: 1 }),
  allowPrivateDestinations: Type.Boolean({ default: false }),
  ...mailFields,
  smtpFrom: Type.String({ default: 'Millrace <no-reply@localhost>' }),
  ...secretsKeyConfigFields,
  ...secretSetting('tokenSecret', Type.Optional(Type.String()), 'at startup'),
  nodeEnv: Type.Optional(Type.String()),
});

export type DoctorSettings = Readonly<Static<typeof doctorSettingsSchema>>;

type Env = Record<string, string | undefined>;

/** Finds valid settings that contradict each other or do not have the intended effect. */
export function checkSettings(settings: DoctorSettings, env: Env): Finding[] {
  const isProduction = settings.nodeEnv === 'production';
  const findings = [
    fallback(settings),
    proxy(settings),
    hops(settings),
    definitionsLoop(settings),
    apiLimits(settings),
    ...bodies(settings),
    saslInTheClear(env),
    session(settings),
    kafkaUnused(settings, env),
    traces(env),
    sender(settings),
    isProduction && !isPodOf(['GATEWAY_ROLES', 'CONSUMER_TOPICS', 'HEALTH_PORT'], env) ? tokenSecret(settings) : null,
    isProduction && !isPodOf(['CONSUMER_TOPICS'], env) ? secretsKey(settings) : null,
    isProduction ? privateDestinations(settings) : null,
    isProduction && !isPodOf(['GATEWAY_ROLES', 'CONSUMER_TOPICS', 'HEALTH_PORT'], env) ? publicUrl(settings) : null,
  ];
  return findingsOrOk(
    findings.filter((finding) => finding !== null),
    'no contradictions found',
  );
}

/**
 * Returns whether doctor runs in the Kubernetes pod of a service that has one of these settings. A pod contains only
 * the settings of its own service, so it may not have any others.
 */
function isPodOf(names: string[], env: Env): boolean {
  const isSet = (name: string) => Boolean(env[name]?.trim());
  return isSet('KUBERNETES_SERVICE_HOST') && names.some(isSet) && !isSet('API_PORT');
}

function fallback({ eventLog, eventLogFallback }: DoctorSettings): Finding | null {
  if (eventLog === 'kafka' || eventLogFallback === 'none') return null;
  return problem(
    'EVENT_LOG_FALLBACK=postgres cannot be combined with EVENT_LOG=postgres: gateways and consumers do not start',
    'Remove EVENT_LOG_FALLBACK, or set EVENT_LOG=kafka.',
  );
}

/**
 * Reports an https URL without `TRUST_PROXY`. The API serves only plain HTTP, so an https URL means that the API is
 * behind a proxy.
 */
function proxy({ publicApiUrl, trustProxy }: DoctorSettings): Finding | null {
  if (publicApiUrl?.startsWith('https:') !== true || trustProxy === true) return null;
  return warning(
    "PUBLIC_API_URL uses https, but TRUST_PROXY is not true: the API sees the proxy's IP address for all clients, " +
      'so one client that guesses keys causes all clients to be blocked',
    'Set TRUST_PROXY=true for the management API, and PROXY_HOPS if there are several proxies.',
  );
}

function hops({ trustProxy, proxyHops }: DoctorSettings): Finding | null {
  if (trustProxy !== false || proxyHops === 1) return null;
  return warning(
    `PROXY_HOPS is ${proxyHops}, but it has no effect because TRUST_PROXY is false`,
    'Set TRUST_PROXY=true, or remove PROXY_HOPS.',
  );
}

/** Reports that both URLs are the same. The API might then request flag definitions from itself in an endless loop. */
function definitionsLoop({ ingestUrl, publicApiUrl }: DoctorSettings): Finding | null {
  const [to, own] = [ingestUrl, publicApiUrl].map((url) => (url && URL.canParse(url) ? new URL(url).origin : null));
  if (to === null || to !== own) return null;
  return warning(
    `INGEST_URL and PUBLIC_API_URL have the same address (${to}): if this address routes /api to the API, the API requests flag ` +
      'definitions from itself',
    'Set INGEST_URL to the internal address of the gateways, such as http://millrace-gateway:8000.',
  );
}

function apiLimits({ apiRequestsPerMinute: minute, apiRequestsPerHour: hour }: DoctorSettings): Finding | null {
  if (minute === 0 || hour === 0 || minute <= hour) return null;
  return warning(
    `API_REQUESTS_PER_MINUTE (${minute}) is higher than API_REQUESTS_PER_HOUR (${hour}), so it is never reached`,
    'Raise the hourly limit, or lower the limit per minute.',
  );
}

function saslInTheClear(env: Env): Finding | null {
  if (env.KAFKA_SASL_MECHANISM?.trim() !== 'plain' || env.KAFKA_SSL?.trim() === 'true') return null;
  return warning(
    'KAFKA_SASL_MECHANISM=plain without KAFKA_SSL: the password is sent unencrypted',
    'Set KAFKA_SSL=true, or use scram-sha-512.',
  );
}

/**
 * Checks that the session timeout is in the range that brokers accept by default. They reject values outside of
 * `group.min.session.timeout.ms` and `group.max.session.timeout.ms`.
 */
function session({ eventLog, kafkaSessionTimeoutMs: ms }: DoctorSettings): Finding | null {
  if (eventLog !== 'kafka' || (ms >= 6000 && ms <= 1_800_000)) return null;
  return warning(
    `KAFKA_SESSION_TIMEOUT_MS (${ms}) is outside the range that brokers accept by default (6000 to 1800000): consumers cannot join`,
    'Set a value in this range, or change group.min.session.timeout.ms and group.max.session.timeout.ms on the brokers.',
  );
}

function kafkaUnused({ eventLog }: DoctorSettings, env: Env): Finding | null {
  if (eventLog === 'kafka' || !env.KAFKA_BROKERS?.trim()) return null;
  return warning(
    'KAFKA_BROKERS is set, but Kafka is not used because EVENT_LOG=postgres',
    'Set EVENT_LOG=kafka for all gateways and consumers, or remove KAFKA_BROKERS.',
  );
}

function traces(env: Env): Finding | null {
  const named = ['TRACE_SAMPLE_RATIO', 'TRACE_TRUST_PARENT'].filter((name) => env[name]?.trim());
  if (named.length === 0 || env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()) return null;
  return warning(
    `tracing is off: ${named.join(' and ')} without OTEL_EXPORTER_OTLP_ENDPOINT`,
    'Set OTEL_EXPORTER_OTLP_ENDPOINT to the address of a collector.',
  );
}

function sender({ smtpUrl, smtpFrom }: DoctorSettings): Finding | null {
  if (smtpUrl === undefined || !smtpFrom.includes('@localhost')) return null;
  return warning(
    'SMTP_URL is set, but SMTP_FROM is an address at localhost: most mail servers reject such email',
    'Set SMTP_FROM to an address in one of your domains.',
  );
}

function tokenSecret({ tokenSecret: secret }: DoctorSettings): Finding | null {
  if (secret !== undefined) return null;
  return warning(
    'TOKEN_SECRET is not set: each process of the management API rejects tokens from the other processes, and a restart invalidates all tokens',
    'Set TOKEN_SECRET for the management API (openssl rand -base64 32).',
  );
}

function secretsKey({ secretsKey: key }: DoctorSettings): Finding | null {
  if (key !== undefined) return null;
  return warning(
    'SECRETS_KEY is not set, although NODE_ENV=production: batch exports with secrets and encrypted flag payloads cannot be created',
    'Set SECRETS_KEY for the management API, delivery workers and gateways (openssl rand -base64 32).',
  );
}

function privateDestinations({ allowPrivateDestinations }: DoctorSettings): Finding | null {
  if (!allowPrivateDestinations) return null;
  return warning(
    'ALLOW_PRIVATE_DESTINATIONS=true with NODE_ENV=production: users who can create webhooks or exports can reach ' +
      'hosts inside your network',
    'Remove it unless you trust all of these users.',
  );
}

function publicUrl({ publicApiUrl }: DoctorSettings): Finding | null {
  if (publicApiUrl !== undefined) return null;
  return warning(
    'PUBLIC_API_URL is not set: single sign-on and passkeys do not work, and no invitations or password resets are sent by email',
    "Set the management API's PUBLIC_API_URL to its public address.",
  );
}

/** Checks that the largest body fits into memory, and that the largest event fits into the largest body. */
function bodies(settings: DoctorSettings): Finding[] {
  return [memory(settings), ...events(settings), unpacked(settings)].filter((finding) => finding !== null);
}

function memory({ maxBodyBytes, maxInFlightBytes }: DoctorSettings): Finding | null {
  if (maxInFlightBytes >= maxBodyBytes) return null;
  return warning(
    `MAX_IN_FLIGHT_BYTES (${maxInFlightBytes}) is less than MAX_BODY_BYTES (${maxBodyBytes}): the largest ` +
      'bodies always get a 503 response, and clients keep retrying them',
    'Raise MAX_IN_FLIGHT_BYTES to several times MAX_BODY_BYTES.',
  );
}

function events({ maxBodyBytes, maxRecordBytes, maxAiRecordBytes }: DoctorSettings): Finding[] {
  const limits = Object.entries({ MAX_RECORD_BYTES: maxRecordBytes, MAX_AI_RECORD_BYTES: maxAiRecordBytes });
  const unreachable = limits.filter(([, bytes]) => bytes > maxBodyBytes);
  return unreachable.map(([name, bytes]) =>
    warning(
      `${name} (${bytes}) is more than MAX_BODY_BYTES (${maxBodyBytes}): the gateway can never receive an event of this size`,
      `Raise MAX_BODY_BYTES, or lower ${name}.`,
    ),
  );
}

function unpacked({ maxBodyBytes, maxDecompressedBytes }: DoctorSettings): Finding | null {
  if (maxDecompressedBytes >= maxBodyBytes) return null;
  return warning(
    `MAX_DECOMPRESSED_BYTES (${maxDecompressedBytes}) is less than MAX_BODY_BYTES (${maxBodyBytes}): bodies between ` +
      'these sizes are rejected, whether compressed or not',
    'Raise MAX_DECOMPRESSED_BYTES, or lower MAX_BODY_BYTES.',
  );
}
