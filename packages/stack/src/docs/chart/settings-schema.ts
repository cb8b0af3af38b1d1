import { environmentName } from '@millrace/runtime';
import type { ConfigSchema, Setting } from '../config-schemas.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * Variables that the chart sets from values of their own: what several services have to agree on, where the stores are, and
 * what the chart itself has to know. Patterns of names.
 */
const setByChart = [
  /^(INGEST|API|HEALTH|METRICS)_PORT$/,
  /^INGEST_URL$/,
  /^DATABASE_(URL|USER|PASSWORD|SSL_)/,
  /^REDIS_/,
  /^(EVENT_LOG|TOPIC)_?/,
  /^KAFKA_(BROKERS|SSL|SASL)/,
  /^(GATEWAY_ROLES|CONSUMER_LANES|EVENT_RETENTION_DAYS|NODE_ENV|LOG_LEVEL|(SECRETS_KEY|TOKEN_SECRET)(_FILE)?)$/,
  /^(TRUST_PROXY|PROXY_HOPS|SMTP_URL(_FILE)?|SMTP_FROM|MAILS_PER_ORGANIZATION_HOUR)$/,
];

function isSetByChart(variable: string): boolean {
  return setByChart.some((pattern) => pattern.test(variable));
}

/** What may stand in `settings` of a component: every variable of its service that the chart does not set by itself. */
export function settingsSchema({ properties }: ConfigSchema): JsonSchema {
  const variables = Object.entries(properties).map(([field, setting]) => [environmentName(field), setting] as const);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      variables.filter(([name]) => !isSetByChart(name)).map(([name, setting]) => [name, schemaOf(setting)]),
    ),
  };
}

function schemaOf({ type, anyOf, minimum, maximum, pattern, description }: Setting): JsonSchema {
  const shape = anyOf === undefined ? { type: type ?? 'string' } : { enum: anyOf.map((choice) => choice.const) };
  const highest = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  return { description, ...shape, minimum, maximum: highest, pattern };
}
