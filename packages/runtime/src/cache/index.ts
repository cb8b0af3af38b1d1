export { createInProcessKeyValue } from './in-process.ts';
export { inspectRedis, type RedisFacts } from './inspect-redis.ts';
export type { CounterChange, KeyValue } from './key-value.ts';
export { createRedisKeyValue } from './redis.ts';
export { type RedisConnection, redisConfigFields, redisConnection } from './redis-config.ts';
