import { environmentName } from '@millrace/runtime';
import type { ConfigSchema, Setting } from '../config-schemas.ts';
import {
  anyMap,
  anyMaps,
  flag,
  type JsonSchema,
  listOf,
  network,
  object,
  objectName,
  oneOf,
  orNull,
  port,
  resources,
  shaped,
  textMap,
  variables,
  whole,
} from './json-schema.ts';

const autoscaling = {
  enabled: flag,
  minReplicas: whole(0),
  maxReplicas: whole(1),
  targetCPUUtilization: whole(1, 100),
};
const service = {
  type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
  port,
  annotations: textMap,
  externalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
  ipFamilyPolicy: oneOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
};

/** Tag of an image: what follows the colon. */
export const imageTag = shaped('^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$');

/** What every component has. */
const common: Record<string, JsonSchema> = {
  replicas: whole(0),
  port,
  image: object({ tag: imageTag }),
  terminationGracePeriodSeconds: orNull(whole(1)),
  resources,
  extraEnv: variables,
  podLabels: textMap,
  podAnnotations: textMap,
  nodeSelector: textMap,
  tolerations: anyMaps,
  affinity: anyMap,
  priorityClassName: objectName,
};

/** What those that answer requests have besides. */
const answering = {
  ...common,
  preStopSeconds: whole(0),
  autoscaling: object(autoscaling),
};

/** Values of everything that runs. */
export function componentSchemas(configs: Record<string, ConfigSchema>): Record<string, JsonSchema> {
  const settingsOf = (service: string) => settingsSchema(configs[service] ?? { properties: {} });
  const gateway = { ...answering, settings: settingsOf('ingest-gateway') };
  const consumer = {
    ...common,
    autoscaling: object({ ...autoscaling, lagThreshold: whole(1), triggers: anyMaps }),
    settings: settingsOf('event-consumer'),
  };
  const lanes = { ...listOf(oneOf('live', 'historical', 'overflow')), uniqueItems: true };
  return {
    gateway: object({ ...gateway, service: object({ ...service, loadBalancerSourceRanges: listOf(network) }) }),
    flags: object({ ...gateway, enabled: flag, service: object(service) }),
    managementApi: object({
      ...answering,
      settings: settingsOf('management-api'),
      service: object(service),
    }),
    consumers: { type: 'object', additionalProperties: object({ ...consumer, lanes }) },
    consumerDefaults: object(consumer),
    deliveryWorker: object({ ...common, settings: settingsOf('delivery-worker') }),
    migrations: object({
      enabled: flag,
      backoffLimit: whole(0),
      activeDeadlineSeconds: whole(1),
      resources,
      extraEnv: variables,
      podLabels: textMap,
      podAnnotations: textMap,
    }),
  };
}

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
function settingsSchema({ properties }: ConfigSchema): JsonSchema {
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
