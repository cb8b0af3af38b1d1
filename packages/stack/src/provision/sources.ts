import { join } from 'node:path';
import { startKafkaContainer, startPostgresContainer, startRedisContainer } from '../docker/containers.ts';
import { dockerAnswers } from '../docker/docker-answers.ts';
import { findJava } from '../kafka/java.ts';
import { hasKafkaJars } from '../kafka/kafka-jars.ts';
import { startKafka } from '../kafka/start-kafka.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import type { Reaper } from '../process/reaper.ts';
import { hasProgram } from '../process/run-program.ts';
import { type RunningServer, serverAt } from '../process/running-server.ts';
import { startRedis } from '../redis/start-redis.ts';
import { answersAt } from './answers-at.ts';
import { canInstallDebianPackages, installDebianPackages } from './debian.ts';
import type { Source } from './provision.ts';

export interface SourceOptions {
  /** Where servers started here keep their files. */
  directory: string;
  reaper: Reaper;
  /** Each is taken when free, else the next free one; 0 takes any. */
  ports: { kafka: number; redis: number };
}

/** What must not survive a crash need not wait for the disk. */
const forTestsOnly = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', shared_buffers: '512MB' };

/** The order of contributing: an address given, Docker, a local program, and as root on Debian an installed package. */
export function postgresSources({ directory, reaper }: SourceOptions): Source[] {
  return [
    given('DATABASE_URL'),
    container(startPostgresContainer),
    {
      name: 'the npm package',
      unavailable: async () => null,
      start: () =>
        startPostgres({ directory: join(directory, 'postgres'), preferredPort: 0, settings: forTestsOnly, reaper }),
    },
  ];
}

export function kafkaSources({ directory, reaper, ports }: SourceOptions): Source[] {
  const start = () => startKafka({ directory: join(directory, 'kafka'), preferredPort: ports.kafka, reaper });
  return [
    given('KAFKA_BROKERS'),
    container(startKafkaContainer),
    { name: "Apache Kafka's jars", unavailable: missingForKafka, start },
    installed(
      async () => [
        ...((await findJava()) ? [] : ['default-jre-headless']),
        ...(hasKafkaJars() || (await hasProgram('mvn')) ? [] : ['maven']),
      ],
      start,
    ),
  ];
}

export function redisSources({ directory, reaper, ports }: SourceOptions): Source[] {
  const start = () => startRedis({ directory: join(directory, 'redis'), preferredPort: ports.redis, reaper });
  const hasRedis = () => hasProgram('redis-server');
  return [
    given('REDIS_URL'),
    container(startRedisContainer),
    { name: 'redis-server', unavailable: async () => ((await hasRedis()) ? null : 'not on the PATH'), start },
    installed(async () => ((await hasRedis()) ? [] : ['redis-server']), start),
  ];
}

function given(variable: string): Source {
  const address = process.env[variable] ?? '';
  return {
    name: variable,
    async unavailable() {
      if (address === '') return 'not set';
      return (await answersAt(address)) ? null : 'nothing answers there';
    },
    start: async () => serverAt(address),
  };
}

function container(start: () => Promise<RunningServer>): Source {
  return {
    name: 'Docker',
    unavailable: async () => ((await dockerAnswers()) ? null : 'no daemon answers'),
    start,
  };
}

function installed(missingPackages: () => Promise<string[]>, start: () => Promise<RunningServer>): Source {
  return {
    name: 'Debian packages',
    unavailable: async () => (canInstallDebianPackages() ? null : 'installing needs root on Debian'),
    async start() {
      const missing = await missingPackages();
      if (missing.length > 0) await installDebianPackages(missing);
      return start();
    },
  };
}

async function missingForKafka(): Promise<string | null> {
  if (!(await findJava())) return 'no Java 17 or newer';
  return hasKafkaJars() || (await hasProgram('mvn')) ? null : 'no Maven to fetch them with';
}
