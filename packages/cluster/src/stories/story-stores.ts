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
  /** What PostgreSQL proves itself with. */
  certificate: ExpiringCertificate;
  kafka: ChaosServer;
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
  const certificate = await createExpiringCertificate(place('certificates'), hostAddress);
  const own = async (name: string, killSignal: NodeJS.Signals, start: typeof startRedis) =>
    startChaosServer({
      ...{ directory: place(name), killSignal },
      start: async (port) =>
        start({ directory: place(name), host: hostAddress, preferredPort: port || (await freePort()), reaper }),
    });
  // A commit must survive its server's end, but not that of the machine.
  const settings = { fsync: 'off', full_page_writes: 'off', ...certificate.postgresSettings };
  const [postgres, kafka, redis] = await Promise.all([
    own('postgres', 'SIGQUIT', (options) => startPostgres({ ...options, settings })),
    own('kafka', 'SIGKILL', startKafka),
    own('redis', 'SIGKILL', startRedis),
  ]);
  const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
  database.on('error', () => {});
  return { postgres, certificate, kafka, kafkaDisk, redis, database };
}
