import type { Values } from './release.ts';
import type { StoryStores } from './story-stores.ts';

/** Of secrets with the authority that signed a store's certificate. */
export const authoritySecrets = { postgres: 'postgres-authority', kafka: 'kafka-authority' };

/**
 * A small installation on two nodes that share two cores: what is asked for is little, what is allowed is the chart's.
 * @param own where there are several installations: a database, and a beginning of topics' names
 */
export function storyValues(
  { postgres, kafkaByTls, redis }: StoryStores,
  { database = postgres.address, topicPrefix = '' }: { database?: string; topicPrefix?: string } = {},
): Values {
  const resources = { requests: { cpu: '50m', memory: '128Mi' } };
  const autoscaling = { enabled: false };
  return {
    postgresql: { url: database, tls: { mode: 'verify-full', ca: { secret: authoritySecrets.postgres } } },
    kafka: { brokers: [kafkaByTls], tls: { enabled: true, ca: { secret: authoritySecrets.kafka } } },
    redis: { url: redis.address },
    eventLog: { partitions: 8, topicPrefix },
    keda: { enabled: true, pollingIntervalSeconds: 5, cooldownSeconds: 30 },
    gateway: { replicas: 2, autoscaling, resources },
    managementApi: { autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 2 }, resources },
    consumers: {
      live: {
        lanes: ['live'],
        autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 4, lagThreshold: 3000 },
      },
      historical: { lanes: ['historical'], replicas: 1, autoscaling },
      overflow: { lanes: ['overflow'], replicas: 1, autoscaling },
    },
    consumerDefaults: { resources },
    deliveryWorker: { resources },
  };
}
