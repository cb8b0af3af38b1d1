import { flag, type JsonSchema, listOf, object, oneOf, port, text, texts, whole } from './json-schema.ts';

const ca = object({ secret: text, configMap: text, key: text });
const client = object({ secret: text, certKey: text, keyKey: text });

/** Values that say where PostgreSQL, the event log, Kafka and Redis are. */
export const storeSchemas: Record<string, JsonSchema> = {
  postgresql: object({
    url: text,
    host: text,
    port,
    database: text,
    user: text,
    password: text,
    existingSecret: object({ name: text, urlKey: text, userKey: text, passwordKey: text }),
    direct: object({ host: text, port, existingSecret: object({ name: text, urlKey: text }) }),
    tls: object({ mode: oneOf('', 'verify-full', 'no-verify', 'disable'), ca, client }),
  }),
  eventLog: object({
    type: oneOf('kafka', 'postgres'),
    topicPrefix: text,
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
      existingSecret: object({ name: text, usernameKey: text, passwordKey: text }),
    }),
    tls: object({ enabled: flag, ca, client }),
  }),
  redis: object({
    url: text,
    nodes: listOf(text),
    mode: oneOf('single', 'sentinel', 'cluster'),
    sentinel: object({ master: text, password: text, passwordKey: text }),
    username: text,
    password: text,
    existingSecret: object({ name: text, urlKey: text, passwordKey: text }),
    tls: object({ enabled: flag, ca }),
  }),
};
