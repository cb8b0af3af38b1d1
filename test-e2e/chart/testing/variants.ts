import { leastValues } from './render-chart.ts';

const everyStore = {
  ...leastValues,
  host: 'events.example.com',
  eventLog: { topicPrefix: 'eu.' },
  postgresql: {
    host: 'db',
    user: 'u',
    password: 'p',
    tls: { mode: 'verify-full', ca: { secret: 'ca' }, client: { secret: 'c' } },
  },
  kafka: {
    brokers: ['k:9093'],
    sasl: { mechanism: 'plain', username: 'u', password: 'p' },
    tls: { enabled: true, ca: { secret: 'ca' }, client: { secret: 'c' } },
  },
  redis: {
    nodes: ['s:26379'],
    mode: 'sentinel',
    username: 'u',
    password: 'p',
    sentinel: { password: 's' },
    tls: { enabled: true, ca: { secret: 'ca' } },
  },
  mail: { url: 'smtp://mail', from: 'us@example.com' },
  flags: { enabled: true },
};

/** Chart values that together set every environment variable of the chart. */
export const variants: object[] = [
  leastValues,
  everyStore,
  { ...everyStore, secretsAsFiles: true },
  {
    ...leastValues,
    secretsAsFiles: true,
    redis: { url: 'redis://r' },
  },
  {
    ...everyStore,
    secretsAsFiles: true,
    postgresql: { host: 'db', existingSecret: { name: 'pg' } },
    kafka: { brokers: ['k:9093'], sasl: { mechanism: 'plain', existingSecret: { name: 'k', usernameKey: 'user' } } },
  },
];
