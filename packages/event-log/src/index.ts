export { withAppendBreaker } from './append/append-breaker.ts';
export { createFallbackLog } from './fallback/create-fallback-log.ts';
export { drainFallback } from './fallback/drain-fallback.ts';
export { fallbackConfigFields, fallbackTopic, usesFallback } from './fallback/fallback-config.ts';
export { createKafkaLog } from './kafka/create-kafka-log.ts';
export { type InspectedTopic, inspectKafka, type KafkaInspection, type LogDirectory } from './kafka/inspect-kafka.ts';
export { type KafkaConnection, kafkaConfigFields, kafkaConnection } from './kafka/kafka-config.ts';
export type { KafkaLogOptions } from './kafka/kafka-options.ts';
export { readKafkaLogs, readUnread, type TopicGroup } from './offsets/former-log-store.ts';
export { advanceOffset, lockOffset, type OffsetKey, readOffset } from './offsets/offset-store.ts';
export { readStartOffset } from './offsets/start-offset.ts';
export type {
  AppendRecord,
  BatchContext,
  BatchResult,
  ConsumeOptions,
  EventLog,
  LogBatch,
  LogConsumer,
  LogRecord,
  PartitionEnd,
  PartitionView,
  StoredOffset,
} from './port/event-log.ts';
export { createPostgresLog, type PostgresLogOptions } from './postgres/create-postgres-log.ts';
export { readTopic, type UnreadPartition } from './read-topic.ts';
