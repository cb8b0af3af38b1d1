export { createInProcessStore } from './in-process.ts';
export { inspectRedis, type RedisInfo } from './inspect-redis.ts';
export type { CounterChange, KeyValueStore } from './key-value.ts';
export { createRedisStore } from './redis.ts';
export { type RedisConnection, redisConfigFields, toRedisConnection } from './redis-config.ts';
