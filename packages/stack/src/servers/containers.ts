import { request } from 'node:http';
import type { StartedTestContainer } from 'testcontainers';
import { kafkaVersion } from './kafka.ts';
import { findFreePort, type RunningServer } from './server-process.ts';

/** The library is loaded only when needed, because loading it takes a second. */
const testcontainers = () => import('testcontainers');

export async function startPostgresContainer(): Promise<RunningServer> {
  const { GenericContainer, Wait } = await testcontainers();
  const container = await new GenericContainer('postgres:18')
    .withEnvironment({ POSTGRES_PASSWORD: 'postgres' })
    .withCommand(['-c', 'max_connections=300', '-c', 'fsync=off', '-c', 'full_page_writes=off'])
    .withExposedPorts(5432)
    // The container starts PostgreSQL twice, and the first start only creates the database files.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  return running(
    container,
    `postgresql://postgres:postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
  );
}

export async function startRedisContainer(): Promise<RunningServer> {
  const { GenericContainer, Wait } = await testcontainers();
  const container = await new GenericContainer('redis:7')
    .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  return running(container, `redis://${container.getHost()}:${container.getMappedPort(6379)}`);
}

export async function startKafkaContainer(): Promise<RunningServer> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await testcontainers();
  // A broker advertises its address to clients, so its port must be known before it starts.
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
  const port = await findFreePort();
  const container = await new GenericContainer(`apache/kafka:${kafkaVersion}`)
    .withEnvironment({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_NODE_ID: '1',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${host}:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withExposedPorts({ container: 9092, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
  return running(container, `${host}:${port}`);
}

function running(container: StartedTestContainer, address: string): RunningServer {
  return {
    address,
    ended: new Promise(() => {}),
    lastLog: () => '',
    stop: async () => void (await container.stop()),
  };
}

/** Returns whether a Docker daemon responds within 1.5 s. Often, Docker is installed but the daemon is not running. */
export function isDockerRunning(): Promise<boolean> {
  return new Promise((resolve) => {
    const target = findDaemonAddress(process.env.DOCKER_HOST);
    if (!target) {
      resolve(false);
      return;
    }
    const ping = request({ ...target, path: '/_ping', timeout: 1500 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once('timeout', () => ping.destroy());
    ping.once('error', () => resolve(false));
    ping.end();
  });
}

/**
 * Returns the daemon's address, or null if only Docker's own client supports it (ssh, named pipes). Exported for its
 * test.
 */
export function findDaemonAddress(
  dockerHost: string | undefined,
): { socketPath: string } | { host: string; port: number } | null {
  if (!dockerHost) return { socketPath: '/var/run/docker.sock' };
  if (dockerHost.startsWith('unix://')) return { socketPath: dockerHost.slice('unix://'.length) };
  const url = /^(tcp|http):\/\/([^/:]+):(\d+)/.exec(dockerHost);
  return url ? { host: String(url[2]), port: Number(url[3]) } : null;
}
