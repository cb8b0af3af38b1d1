import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type ConfigSchema, configSchemas } from '../config-schemas.ts';
import { componentSchemas, imageTag } from './component-schemas.ts';
import {
  anyMap,
  anyMaps,
  flag,
  type JsonSchema,
  keyName,
  listOf,
  network,
  object,
  objectName,
  oneOf,
  orNull,
  port,
  resources,
  shaped,
  text,
  textMap,
  texts,
  whole,
} from './json-schema.ts';

/**
 * What the values of the chart may be (deploy/helm/millrace/values.schema.json). What a schema cannot say in a sentence that
 * a person understands, or at all, is in the chart's `_problems.tpl`.
 */
export async function valuesSchema(root: string): Promise<string> {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart millrace',
    description: 'Written by `npm run docs`, from the settings of the services.',
    ...requireDefaults(object(values(await configSchemas(root))), await defaults(root)),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

async function defaults(root: string): Promise<unknown> {
  return parse(await readFile(join(root, 'deploy/helm/millrace/values.yaml'), 'utf8'));
}

/**
 * What has a value of its own can be given another, but not be taken away (`null`): templates rely on it. Settings of services,
 * and what a pod is given, can.
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
    // Values of a chart that this one is part of.
    global: anyMap,
    nameOverride: text,
    fullnameOverride: text,
    labels: textMap,
    podLabels: textMap,
    podAnnotations: textMap,
    image: object({
      // Neither with https:// nor with a tag.
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

/** Values that say where PostgreSQL, the event log, Kafka and Redis are. */
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
