import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ChaosServer, startChaosServer } from '@millrace/bench/src/chaos/chaos-server.ts';
import { startKafka } from '@millrace/stack/src/kafka/start-kafka.ts';
import { startPostgres } from '@millrace/stack/src/postgres/start-postgres.ts';
import { freePort } from '@millrace/stack/src/process/free-port.ts';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import { startRedis } from '@millrace/stack/src/redis/start-redis.ts';
import pg from 'pg';
import { hostAddress } from '../node/cluster-network.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { createExpiringCertificate, type ExpiringCertificate } from './expiring-certificate.ts';

/** PostgreSQL, Kafka and Redis outside of the cluster, where pods reach them. */
export interface StoryStores {
  postgres: ChaosServer;
  /** What PostgreSQL and Kafka prove themselves with. */
  certificates: { postgres: ExpiringCertificate; kafka: ExpiringCertificate };
  kafka: ChaosServer;
  /** Where it is spoken to by TLS. */
  kafkaByTls: string;
  /** Where Kafka keeps its records: a disk of its own that is soon full. */
  kafkaDisk: string;
  redis: ChaosServer;
  /** Straight to the database. */
  database: pg.Pool;
}

/** More than a story writes, and soon filled by a file of the story's own. */
const kafkaDiskSize = '2g';

/** To be called in the cluster's namespaces, which also end them. */
export async function startStores(directory: string): Promise<StoryStores> {
  const reaper = createReaper();
  const place = (name: string) => {
    mkdirSync(join(directory, name), { recursive: true });
    return join(directory, name);
  };
  const kafkaDisk = join(place('kafka'), 'data');
  mkdirSync(kafkaDisk);
  await runOrExplain('mount', ['-t', 'tmpfs', '-o', `size=${kafkaDiskSize}`, 'tmpfs', kafkaDisk]);
  const certificates = {
    postgres: await createExpiringCertificate(place('postgres-certificates'), hostAddress),
    kafka: await createExpiringCertificate(place('kafka-certificates'), hostAddress),
  };
  const own = async (name: string, killSignal: NodeJS.Signals, start: typeof startRedis) =>
    startChaosServer({
      ...{ directory: place(name), killSignal },
      start: async (port) =>
        start({ directory: place(name), host: hostAddress, preferredPort: port || (await freePort()), reaper }),
    });
  const { key, certificate } = certificates.postgres;
  const tls = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key };
  // A commit must survive its server's end, but not that of the machine.
  const settings = { fsync: 'off', full_page_writes: 'off', ...tls };
  const secured = { port: await freePort(), keyStore: certificates.kafka.keyAndCertificate };
  const [postgres, kafka, redis] = await Promise.all([
    own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings })),
    own('kafka', 'SIGKILL', (options) => startKafka({ ...options, secured })),
    own('redis', 'SIGKILL', startRedis),
  ]);
  const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
  database.on('error', () => {});
  const kafkaByTls = `${hostAddress}:${secured.port}`;
  return { postgres, certificates, kafka, kafkaByTls, kafkaDisk, redis, database };
}
