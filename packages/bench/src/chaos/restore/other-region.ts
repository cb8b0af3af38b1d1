import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@millrace/stack/src/kafka/start-kafka.ts';
import { postgresFiles, removePostgresFiles } from '@millrace/stack/src/postgres/postgres-files.ts';
import { startPostgres } from '@millrace/stack/src/postgres/start-postgres.ts';
import { freePort } from '@millrace/stack/src/process/free-port.ts';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import { unprivilegedUser } from '@millrace/stack/src/process/unprivileged-user.ts';
import { startRedis } from '@millrace/stack/src/redis/start-redis.ts';
import pg from 'pg';
import { type ChaosServices, createServiceStarter, usualSettings } from '../chaos-services.ts';
import type { ChaosSystem } from '../chaos-system.ts';
import { copyAsStandby } from './postgres-backup.ts';

/** Where a system moves to: a standby of its PostgreSQL, and a Kafka and a Redis of its own, both empty. */
export interface OtherRegion extends ChaosServices {
  kafkaAddress: string;
  /** Straight to its database: read only until it is promoted. */
  database: pg.Pool;
  /** What every service there is told. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

export async function startOtherRegion(home: ChaosSystem): Promise<OtherRegion> {
  const root = mkdtempSync(join(tmpdir(), 'millrace-region-'));
  const reaper = createReaper();
  const directoryOf = (name: string) => join(root, name);
  const closers: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(root, { recursive: true, force: true }),
    () => removePostgresFiles(directoryOf('postgres')),
    () => reaper.dismiss(),
  ];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const own = async (name: string) => ({ directory: directoryOf(name), preferredPort: await freePort(), reaper });
    mkdirSync(directoryOf('postgres'));
    // A standby knows the passwords of the cluster that it follows.
    copyFileSync(join(home.postgresDirectory, 'password'), join(directoryOf('postgres'), 'password'));
    await copyAsStandby(home.postgres.address, postgresFiles(directoryOf('postgres'), unprivilegedUser()).data);
    const postgres = await startPostgres({ ...(await own('postgres')), settings: { fsync: 'off' } });
    closers.push(postgres.stop);
    const kafka = await startKafka(await own('kafka'));
    closers.push(kafka.stop);
    const redis = await startRedis(await own('redis'));
    closers.push(redis.stop);
    const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
    database.on('error', () => {});
    closers.push(() => database.end());
    const settings = {
      ...usualSettings,
      ...{ DATABASE_URL: postgres.address, KAFKA_BROKERS: kafka.address, REDIS_URL: redis.address },
    };
    const services = createServiceStarter(settings, { logs: null, closers })(home.files);
    return { ...services, kafkaAddress: kafka.address, database, settings, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
