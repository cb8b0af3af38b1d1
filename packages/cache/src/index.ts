export { createInProcessKeyValue } from './in-process.ts';
export type { CounterChange, KeyValue } from './key-value.ts';
export { createRedisKeyValue } from './redis.ts';
