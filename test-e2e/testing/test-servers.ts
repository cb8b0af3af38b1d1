import { randomUUID } from 'node:crypto';
import { readEnvironment } from '@millrace/runtime';

/** Addresses of the real servers for tests, which `npm test` provides (packages/stack). */
export interface TestServers {
  /** PostgreSQL URL of a superuser. Use its database only to create other databases. */
  databaseUrl: string;
  kafkaBrokers: string[];
  redisUrl: string;
}

/** @throws Error that names the missing variable and what to do */
export function testServers(): TestServers {
  const env = readEnvironment();
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

/** Returns a prefix for `topicNames` and `consumerGroup`, so that test files can share a broker. */
export function uniqueTopicPrefix(): string {
  return `t-${randomUUID()}.`;
}
