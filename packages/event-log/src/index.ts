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
} from './event-log.ts';
export { createKafkaLog } from './kafka/create-kafka-log.ts';
export { kafkaConfigFields, kafkaConnection } from './kafka/kafka-config.ts';
export type { KafkaLogOptions } from './kafka/kafka-options.ts';
export { createPostgresLog, type PostgresLogOptions } from './postgres/create-postgres-log.ts';
