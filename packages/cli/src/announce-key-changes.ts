import { createRedisKeyValue, type RedisConnection } from '@millrace/cache';
import { projectKeyChannel } from '@millrace/contracts';
import type { Logger } from '@millrace/runtime';

const connectTimeoutMs = 2000;

/** Publishes each changed project API key, or `*` for all. @throws when Redis does not answer within two seconds. */
export async function announceKeyChanges(redis: RedisConnection, messages: string[], logger: Logger): Promise<void> {
  const store = createRedisKeyValue(redis, logger);
  try {
    const deadline = Date.now() + connectTimeoutMs;
    while (!store.isHealthy() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const message of messages) await store.publish(projectKeyChannel, message);
  } finally {
    await store.stop();
  }
}
