export { withAppendBreaker } from './append/breaker.ts';
export { type DecodedDeadLetter, decodeDeadLetter, findDeadLetterDecision, toReplayedRecord } from './dead-letters.ts';
export { drainFallback } from './fallback/drain.ts';
export { createFallbackLog, fallbackConfigFields, fallbackTopic, isFallbackEnabled } from './fallback/log.ts';
export { type KafkaConnection, type KafkaLogOptions, kafkaConfigFields, toKafkaConnection } from './kafka/config.ts';
export { createKafkaInspector, type InspectedTopic, type KafkaInspector, type LogDirectory } from './kafka/inspect.ts';
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
  countUnreadRecords,
  lockOffset,
  type OffsetKey,
  readConsumedKafkaLogs,
  readOffset,
  type TopicGroup,
} from './offsets-store.ts';
export { createPostgresLog, type PostgresLogOptions } from './postgres/log.ts';
export { readTopic, type UnreadPartition } from './read-topic.ts';
