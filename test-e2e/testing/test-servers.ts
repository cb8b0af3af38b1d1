// The servers that a run of tests was given, and names of topics on them that nobody else uses.
import { randomUUID } from 'node:crypto';
import { environment } from '@millrace/runtime';

/** Addresses of the real servers tests run on; `npm test` provides them (packages/stack). */
export interface TestServers {
  /** A PostgreSQL superuser's address; its database is only used to create others. */
  databaseUrl: string;
  kafkaBrokers: string[];
  redisUrl: string;
}

/** @throws Error naming the missing variable, with what to do. */
export function testServers(): TestServers {
  const env = environment();
  const read = (name: string): string => {
    const value = env[name];
    if (!value) throw new Error(`${name} is not set. Run the tests with \`npm test\`, which provides the servers.`);
    return value;
  };
  return {
    get databaseUrl() {
      return read('DATABASE_URL');
    },
    get kafkaBrokers() {
      return read('KAFKA_BROKERS').split(',');
    },
    get redisUrl() {
      return read('REDIS_URL');
    },
  };
}

/** Prefix for `topicNames` and `consumerGroup`, so that test files share one broker without meeting. */
export function uniqueTopicPrefix(): string {
  return `t-${randomUUID()}.`;
}
