// Generates the JSON schema of the Helm chart's values.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toEnvironmentVariable } from '@millrace/runtime';
import { parse } from 'yaml';
import { type ConfigSchema, readConfigSchemas, type Setting, toSentences } from './configuration.ts';

type JsonSchema = { [keyword: string]: unknown };

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean' };
const texts: JsonSchema = { type: 'array', items: text };
/** An object that is passed unchanged to Kubernetes, which validates it. */
const anyMap: JsonSchema = { type: 'object' };
const anyMaps: JsonSchema = { type: 'array', items: anyMap };
/** Labels and annotations. Kubernetes rejects unquoted numbers and booleans. */
const textMap: JsonSchema = { type: 'object', additionalProperties: text };
const port: JsonSchema = whole(1, 65_535);
/** Resource quantities. A null value removes a default quantity. */
const quantities: JsonSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'null'], pattern: '^[0-9.]+([eE][-+]?[0-9]+|[numkMGTPE]i?)?$' },
};
const resources: JsonSchema = object({
  requests: orNull(quantities),
  limits: orNull(quantities),
  claims: anyMaps,
});
/** Environment variables. Kubernetes rejects unquoted numbers and booleans. */
const variables: JsonSchema = {
  type: 'array',
  items: { ...object({ name: shaped('.'), value: text, valueFrom: anyMap }), required: ['name'] },
};
/** A network in CIDR notation, such as 10.0.0.0/8. */
const network: JsonSchema = shaped('^[0-9a-fA-F:.]+/[0-9]{1,3}$');
/** A key in a Secret or ConfigMap, which may be empty. */
const keyName: JsonSchema = shaped('^[-._a-zA-Z0-9]*$');
/** A Kubernetes object name, which may be empty. */
const objectName: JsonSchema = shaped('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$');

function shaped(pattern: string): JsonSchema {
  return { type: 'string', pattern };
}

function whole(minimum: number, maximum?: number): JsonSchema {
  return { type: 'integer', minimum, maximum };
}

function oneOf(...allowed: (string | null)[]): JsonSchema {
  return { enum: allowed };
}

/** Returns an object schema that allows only these fields, so that misspelled fields are reported. */
function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', additionalProperties: false, properties };
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema.type, 'null'] };
}

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

const imageTag = shaped('^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$');

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

const serving = {
  ...common,
  preStopSeconds: whole(0),
  autoscaling: object(autoscaling),
};

function componentSchemas(configs: Record<string, ConfigSchema>): Record<string, JsonSchema> {
  const settingsOf = (service: string) => settingsSchema(configs[service] ?? { properties: {} });
  const gateway = { ...serving, settings: settingsOf('ingest-gateway') };
  const consumer = {
    ...common,
    autoscaling: object({ ...autoscaling, lagThreshold: whole(1), triggers: anyMaps }),
    settings: settingsOf('event-consumer'),
  };
  const topics = { ...listOf(oneOf('live', 'historical', 'overflow')), uniqueItems: true };
  return {
    gateway: object({ ...gateway, service: object({ ...service, loadBalancerSourceRanges: listOf(network) }) }),
    flags: object({ ...gateway, enabled: flag, service: object(service) }),
    managementApi: object({
      ...serving,
      settings: settingsOf('management-api'),
      service: object(service),
    }),
    consumers: { type: 'object', additionalProperties: object({ ...consumer, topics }) },
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
 * Patterns of variables that the chart sets from its own values. They are settings that several services share, URLs of
 * stores, and settings that the chart itself requires.
 */
const setByChart = [
  /^(INGEST|API|HEALTH|METRICS)_PORT$/,
  /^(INGEST|CAPTURE)_URL$/,
  /^DATABASE_(URL|USER|PASSWORD|SSL_)/,
  /^REDIS_/,
  /^(EVENT_LOG|TOPIC)_?/,
  /^KAFKA_(BROKERS|SSL|SASL)/,
  /^(GATEWAY_ROLES|CONSUMER_TOPICS|EVENT_RETENTION_DAYS|NODE_ENV|LOG_LEVEL|(SECRETS_KEY|TOKEN_SECRET)(_FILE)?)$/,
  /^(TRUST_PROXY|PROXY_HOPS|SMTP_URL(_FILE)?|SMTP_FROM|MAILS_PER_ORGANIZATION_HOUR)$/,
];

function isSetByChart(variable: string): boolean {
  return setByChart.some((pattern) => pattern.test(variable));
}

/** Returns the schema for a component's `settings`: every variable of its service that the chart does not set. */
function settingsSchema({ properties }: ConfigSchema): JsonSchema {
  const variables = Object.entries(properties).map(
    ([field, setting]) => [toEnvironmentVariable(field), setting] as const,
  );
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
  return { description: description && toSentences(description), ...shape, minimum, maximum: highest, pattern };
}

/**
 * Generates the schema of the chart's values (deploy/helm/millrace/values.schema.json). Rules that a schema cannot
 * express, or only with a message that users would not understand, are in the chart's `_problems.tpl`.
 */
export async function generateValuesSchema(root: string): Promise<string> {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Millrace chart',
    description: 'Generated by `npm run docs` from the settings of the services.',
    ...requireDefaults(object(values(await readConfigSchemas(root))), await defaults(root)),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

async function defaults(root: string): Promise<unknown> {
  return parse(await readFile(join(root, 'deploy/helm/millrace/values.yaml'), 'utf8'));
}

/**
 * Makes those values required that have a default. Users can change such a value but not remove it (with `null`),
 * because templates rely on it. Settings of services and values that are passed to pods can be removed.
 */
function requireDefaults(schema: JsonSchema, usual: unknown): JsonSchema {
  const fields = schema.properties as Record<string, JsonSchema> | undefined;
  if (fields === undefined || !isMap(usual)) return schema;
  const below = (name: string, field: JsonSchema) =>
    ['settings', 'resources'].includes(name) ? field : requireDefaults(field, usual[name]);
  return {
    ...schema,
    required: Object.keys(usual).filter((name) => name !== 'settings' && !isNullable(fields[name])),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, below(name, field)])),
  };
}

function isNullable(field: JsonSchema | undefined): boolean {
  return Array.isArray(field?.type) && field.type.includes('null');
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function values(configs: Record<string, ConfigSchema>): Record<string, JsonSchema> {
  return {
    global: anyMap,
    nameOverride: text,
    fullnameOverride: text,
    labels: textMap,
    podLabels: textMap,
    podAnnotations: textMap,
    image: object({
      // The registry must contain neither a URL scheme nor a tag.
      registry: shaped('^[^\\s@:]*(:[0-9]+)?(/[^\\s@:]*)?$'),
      repository: shaped('^([^\\s@]+/)?[^\\s@:/]+$'),
      tag: imageTag,
      digest: shaped('^(sha256:[0-9a-f]{64})?$'),
      pullPolicy: oneOf('IfNotPresent', 'Always', 'Never'),
      pullSecrets: listOf(objectName),
    }),
    host: text,
    apiHost: text,
    ...storeSchemas,
    secretsAsFiles: flag,
    keys: object({ existingSecret: objectName, allowNew: flag, secretsKeyKey: keyName, tokenSecretKey: keyName }),
    mail: object({
      url: text,
      existingSecret: object({ name: objectName, urlKey: keyName }),
      from: text,
      perOrganizationHour: whole(0),
    }),
    clickhouse: object({ existingSecret: object({ name: objectName, urlKey: keyName, postgresUrlKey: keyName }) }),
    eventRetentionDays: whole(0, 36_500),
    logLevel: oneOf('error', 'warn', 'info', 'debug'),
    ...componentSchemas(configs),
    ...reached,
    ...safety,
    ...seen,
    tests: object({ enabled: flag, timeoutSeconds: whole(1), resources, podLabels: textMap, podAnnotations: textMap }),
  };
}

const reached: Record<string, JsonSchema> = {
  proxy: object({ trusted: orNull(flag), hops: whole(1, 20) }),
  ingress: object({
    enabled: flag,
    className: objectName,
    annotations: textMap,
    tls: object({ enabled: flag, secretName: objectName }),
    extraPaths: listOf({
      ...object({
        path: shaped('^/'),
        pathType: oneOf('Prefix', 'Exact', 'ImplementationSpecific'),
        service: oneOf('gateway', 'flags', 'managementApi'),
      }),
      required: ['path', 'service'],
    }),
  }),
  gatewayApi: object({ enabled: flag, parentRefs: anyMaps, annotations: textMap, patterns: flag }),
};

const peers = { to: anyMaps, ports: listOf(port) };
const cannotBePlaced = oneOf('ScheduleAnyway', 'DoNotSchedule', '');

const safety: Record<string, JsonSchema> = {
  serviceAccounts: object({ annotations: textMap, existingName: objectName }),
  podSecurity: object({ user: orNull(whole(1)) }),
  topologySpread: object({ zones: cannotBePlaced, nodes: cannotBePlaced }),
  podDisruptionBudgets: object({ enabled: flag }),
  priorityClassName: objectName,
  priorityClasses: object({
    create: flag,
    ingest: whole(-2_147_483_648, 1_000_000_000),
    other: whole(-2_147_483_648, 1_000_000_000),
  }),
  nodeSelector: textMap,
  tolerations: anyMaps,
  affinity: anyMap,
  networkPolicies: object({
    enabled: flag,
    clients: anyMaps,
    monitoring: anyMaps,
    dns: anyMaps,
    dnsPorts: listOf(port),
    postgresql: object(peers),
    kafka: object(peers),
    redis: object(peers),
    mail: object(peers),
    clickhouse: object(peers),
    world: object({ cidrs: listOf(network), except: listOf(network), exceptIPv6: listOf(network) }),
    extraEgress: anyMaps,
  }),
};

const seen: Record<string, JsonSchema> = {
  metrics: object({ port }),
  serviceMonitor: object({ enabled: flag, interval: shaped('^([0-9]+(ms|[smhdwy]))+$'), labels: textMap }),
  prometheusRules: object({ enabled: flag, labels: textMap }),
  dashboards: object({ enabled: flag, label: shaped('.'), labelValue: text, annotations: textMap }),
  keda: object({ enabled: flag, pollingIntervalSeconds: whole(1), cooldownSeconds: whole(0) }),
};

const ca = object({ secret: objectName, configMap: objectName, key: keyName });
const client = object({ secret: objectName, certKey: keyName, keyKey: keyName });

const storeSchemas: Record<string, JsonSchema> = {
  postgresql: object({
    url: text,
    host: text,
    port,
    database: text,
    user: text,
    password: text,
    existingSecret: object({ name: objectName, urlKey: keyName, userKey: keyName, passwordKey: keyName }),
    direct: object({ host: text, port, existingSecret: object({ name: objectName, urlKey: keyName }) }),
    tls: object({ mode: oneOf('', 'verify-full', 'no-verify', 'disable'), ca, client }),
  }),
  eventLog: object({
    type: oneOf('kafka', 'postgres'),
    topicPrefix: shaped('^[a-zA-Z0-9._-]*$'),
    partitions: whole(1),
    fallback: oneOf('none', 'postgres'),
    fallbackAfterMs: whole(500),
  }),
  kafka: object({
    brokers: texts,
    sasl: object({
      mechanism: oneOf('', 'plain', 'scram-sha-256', 'scram-sha-512'),
      username: text,
      password: text,
      existingSecret: object({ name: objectName, usernameKey: keyName, passwordKey: keyName }),
    }),
    tls: object({ enabled: flag, ca, client }),
  }),
  redis: object({
    url: text,
    nodes: listOf(text),
    mode: oneOf('single', 'sentinel', 'cluster'),
    sentinel: object({ master: text, password: text, passwordKey: keyName }),
    username: text,
    password: text,
    existingSecret: object({ name: objectName, urlKey: keyName, passwordKey: keyName }),
    tls: object({ enabled: flag, ca }),
  }),
};
