import { projectKeyChannel } from '@millrace/contracts';
import type { Logger } from '@millrace/runtime';
import { createRedisKeyValue, type RedisConnection } from '@millrace/runtime/cache';

const answerWithinMs = 2000;

/** Publishes each changed project API key, or `*` for all. @throws when Redis does not answer within two seconds. */
export async function announceKeyChanges(redis: RedisConnection, messages: string[], logger: Logger): Promise<void> {
  // A request does not wait for Redis; who has changed a key does.
  const patience = { commandTimeoutMs: answerWithinMs, silenceTimeoutMs: answerWithinMs };
  const store = createRedisKeyValue(redis, logger, patience);
  try {
    const deadline = Date.now() + answerWithinMs;
    while (!store.isHealthy() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const message of messages) await store.publish(projectKeyChannel, message);
  } finally {
    await store.stop();
  }
}
