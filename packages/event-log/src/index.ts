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
