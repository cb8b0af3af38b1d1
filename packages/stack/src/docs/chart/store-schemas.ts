import {
  flag,
  type JsonSchema,
  keyName,
  listOf,
  object,
  objectName,
  oneOf,
  port,
  shaped,
  text,
  texts,
  whole,
} from './json-schema.ts';

const ca = object({ secret: objectName, configMap: objectName, key: keyName });
const client = object({ secret: objectName, certKey: keyName, keyKey: keyName });

/** Values that say where PostgreSQL, the event log, Kafka and Redis are. */
export const storeSchemas: Record<string, JsonSchema> = {
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
