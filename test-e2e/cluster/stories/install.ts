// Installs Millrace in the cluster: images, chart values and the first organization.
import type { Cluster } from '../cluster.ts';
import { pauseImageName } from '../node/start-containerd.ts';
import type { Release, Values } from './release.ts';
import type { StoryContext } from './story.ts';
import type { StoryStores } from './story-stores.ts';

export interface Installation {
  projectApiKey: string;
  /** How many seconds a new operator waits for each step. */
  seconds: { ready: number; keys: number; visible: number };
}

/** Installs Millrace with the commands from the chart's output, and waits until the first event is visible. */
export async function installMillrace(release: Release, stores: StoryStores): Promise<Installation> {
  await createNamespace(release, stores);
  const seconds = { ready: 0, keys: 0, visible: 0 };
  seconds.ready = (await release.deploy({}, { timeoutSeconds: 420 })) / 1000;
  const [projectApiKey, keysMs] = await timed(() => createFirstOrganization(release));
  seconds.keys = keysMs / 1000;
  const [{ status, output }, testMs] = await timed(() =>
    release.helm('test', 'millrace', '--namespace', release.namespace, '--logs', '--timeout', '180s'),
  );
  if (status !== 0) throw new Error(`helm test failed:\n${output}`);
  seconds.visible = testMs / 1000;
  return { projectApiKey, seconds };
}

/** Creates the namespace and the secrets that the chart requires. */
export async function createNamespace(release: Release, { certificates }: StoryStores): Promise<void> {
  await release.kubectl('create', 'namespace', release.namespace);
  for (const store of ['postgres', 'kafka'] as const) {
    const file = `--from-file=ca.crt=${certificates[store].authority}`;
    await release.kubectl('create', 'secret', 'generic', authoritySecrets[store], file);
  }
}

/** @returns the project API key */
export async function createFirstOrganization(release: Release): Promise<string> {
  const printed = await release.kubectl(
    ...['exec', 'deploy/millrace-management-api', '--', 'millrace'],
    ...['bootstrap', '--email', 'operator@example.com'],
  );
  const projectApiKey = /phc_\w+/.exec(printed)?.[0];
  if (projectApiKey === undefined) throw new Error('bootstrap printed no project API key');
  return projectApiKey;
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}

/** Names of the secrets with the CA certificates of the stores. */
const authoritySecrets = { postgres: 'postgres-authority', kafka: 'kafka-authority' };

/**
 * Returns chart values for a small installation on two nodes, which share two cores. The resource requests are low, but
 * the limits are the chart's defaults.
 * @param own the database and topic prefix of this installation, if installations run in parallel
 */
export function buildStoryValues(
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
        topics: ['live'],
        autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 4, lagThreshold: 3000 },
      },
      historical: { topics: ['historical'], replicas: 1, autoscaling },
      overflow: { topics: ['overflow'], replicas: 1, autoscaling },
    },
    consumerDefaults: { resources },
    deliveryWorker: { resources },
  };
}

export const imageRepository = 'docker.io/millrace/millrace';

/** Imports images into every node: this version under two names, and an image that never becomes ready. */
export async function loadImages(
  { nodes }: Cluster,
  { image, version, others }: { image: string; version: string; others: readonly string[] },
): Promise<StoryContext['tags']> {
  const tags = { installed: version, next: `${version}-next`, broken: `${version}-broken` };
  for (const node of nodes) {
    for (const archive of [image, ...others]) await node.load(archive);
    await node.tag(`${imageRepository}:${version}`, `${imageRepository}:${tags.next}`);
    await node.tag(pauseImageName, `${imageRepository}:${tags.broken}`);
  }
  return tags;
}
