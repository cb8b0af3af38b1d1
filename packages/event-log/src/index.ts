export { withAppendBreaker } from './append/breaker.ts';
export { decisionOn, type ReadDeadLetter, toDeadLetter, toReplayedRecord } from './dead-letters.ts';
export { drainFallback } from './fallback/drain.ts';
export { createFallbackLog, fallbackConfigFields, fallbackTopic, usesFallback } from './fallback/log.ts';
export { type KafkaConnection, type KafkaLogOptions, kafkaConfigFields, kafkaConnection } from './kafka/config.ts';
export { type InspectedTopic, inspectKafka, type KafkaInspection, type LogDirectory } from './kafka/inspect.ts';
export { createKafkaLog } from './kafka/log.ts';
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
  StoredOffset,
} from './log.ts';
export {
  advanceOffset,
  lockOffset,
  type OffsetKey,
  readKafkaLogs,
  readOffset,
  readUnread,
  type TopicGroup,
} from './offsets-store.ts';
export { createPostgresLog, type PostgresLogOptions } from './postgres/log.ts';
export { readTopic, type UnreadPartition } from './read-topic.ts';
