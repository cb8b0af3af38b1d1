import type { DoctorSettings } from '../doctor-settings.ts';
import { type Finding, orOk, problem, warning } from '../finding.ts';

type Env = Record<string, string | undefined>;

/** Settings that a service starts with, and that do not do together what was meant. */
export function checkSettings(settings: DoctorSettings, env: Env): Finding[] {
  const isProduction = settings.nodeEnv === 'production';
  const findings = [
    fallback(settings),
    proxy(settings),
    bodies(settings),
    saslInTheClear(env),
    sender(settings),
    isProduction ? tokenSecret(settings) : null,
    isProduction ? secretsKey(settings) : null,
    isProduction ? privateDestinations(settings) : null,
  ];
  return orOk(
    findings.filter((finding) => finding !== null),
    'no two contradict each other',
  );
}

function fallback({ eventLog, eventLogFallback }: DoctorSettings): Finding | null {
  if (eventLog === 'kafka' || eventLogFallback === 'none') return null;
  return problem(
    'EVENT_LOG_FALLBACK=postgres with EVENT_LOG=postgres: no gateway and no consumer starts',
    'leave EVENT_LOG_FALLBACK out, or set EVENT_LOG=kafka',
  );
}

/** The API itself speaks plain HTTP, so whoever reaches it by https comes through a proxy. */
function proxy({ publicApiUrl, trustProxy }: DoctorSettings): Finding | null {
  if (publicApiUrl?.startsWith('https:') !== true || trustProxy === true) return null;
  return warning(
    'PUBLIC_API_URL is https, but TRUST_PROXY is not true: to the API all clients have the address of the proxy, and one that guesses keys shuts all out',
    'set TRUST_PROXY=true for the management API, and PROXY_HOPS when there are several proxies',
  );
}

function bodies({ maxBodyBytes, maxInFlightBytes, maxRecordBytes }: DoctorSettings): Finding | null {
  if (maxInFlightBytes < maxBodyBytes) {
    return warning(
      `MAX_IN_FLIGHT_BYTES (${maxInFlightBytes}) is less than MAX_BODY_BYTES (${maxBodyBytes}): the largest bodies are always answered with 503, and sent again and again`,
      'raise MAX_IN_FLIGHT_BYTES to several times MAX_BODY_BYTES',
    );
  }
  if (maxRecordBytes <= maxBodyBytes) return null;
  return warning(
    `MAX_RECORD_BYTES (${maxRecordBytes}) is more than MAX_BODY_BYTES (${maxBodyBytes}): no such event can come in`,
    'raise MAX_BODY_BYTES, or lower MAX_RECORD_BYTES',
  );
}

function saslInTheClear(env: Env): Finding | null {
  if (env.KAFKA_SASL_MECHANISM?.trim() !== 'plain' || env.KAFKA_SSL?.trim() === 'true') return null;
  return warning(
    'KAFKA_SASL_MECHANISM=plain without KAFKA_SSL: the password goes over the network as it is',
    'set KAFKA_SSL=true, or use scram-sha-512',
  );
}

function sender({ smtpUrl, smtpFrom }: DoctorSettings): Finding | null {
  if (smtpUrl === undefined || !smtpFrom.includes('@localhost')) return null;
  return warning(
    'SMTP_URL is set, and SMTP_FROM is an address at localhost: most servers refuse such mails',
    'set SMTP_FROM to an address of a domain of yours',
  );
}

function tokenSecret({ tokenSecret: secret }: DoctorSettings): Finding | null {
  if (secret !== undefined) return null;
  return warning(
    'TOKEN_SECRET is not set: each process of the management API signs tokens that no other accepts, and that die with it',
    'set TOKEN_SECRET for the management API (openssl rand -base64 32)',
  );
}

function secretsKey({ secretsKey: key }: DoctorSettings): Finding | null {
  if (key !== undefined) return null;
  return warning(
    'SECRETS_KEY is not set with NODE_ENV=production: batch exports with secrets and encrypted flag payloads cannot be made',
    'set SECRETS_KEY for the management API, delivery workers and gateways (openssl rand -base64 32)',
  );
}

function privateDestinations({ allowPrivateDestinations }: DoctorSettings): Finding | null {
  if (!allowPrivateDestinations) return null;
  return warning(
    'ALLOW_PRIVATE_DESTINATIONS=true with NODE_ENV=production: whoever may make a webhook or an export reaches hosts inside your network',
    'leave it out, unless all who may are trusted with that',
  );
}
