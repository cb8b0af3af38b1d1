// Copies the records that gateways stored in PostgreSQL during a Kafka outage to Kafka.

import type { SqlDatabase } from '@millrace/db/sql';
import { isAppError, type Logger, type Metrics, sleep } from '@millrace/runtime';
import { backoffMs } from '../backoff.ts';
import type { AppendRecord, BatchContext, BatchResult, EventLog, LogBatch, LogConsumer, LogRecord } from '../log.ts';
import { advanceOffset, lockOffset, readOffset } from '../offsets-store.ts';
import { createPostgresLog } from '../postgres/log.ts';
import { topicHeader } from './log.ts';
import { drainGroup } from './store.ts';

export interface DrainFallbackOptions {
  kafka: Pick<EventLog, 'append' | 'isHealthy'>;
  database: SqlDatabase;
  topic: string;
  partitions: number;
  logger: Logger;
  metrics?: Metrics;
  onFatal(error: Error): void;
}

const maxBatchRecords = 1000;
const maxBatchBytes = 2 * 1024 * 1024;
const partitionConcurrency = 4;
const waitForKafkaMs = 250;

/**
 * Copies records from the fallback log to Kafka, partition by partition and in order (see `createFallbackLog` for the
 * reasons). Several processes share the partitions. Starts in the background as soon as PostgreSQL responds.
 */
export function drainFallback(options: DrainFallbackOptions): { stop(): Promise<void> } {
  const { kafka, database, topic, logger } = options;
  // The PostgreSQL log has no metrics, because a process can register log metrics only once, and this process registers
  // Kafka's.
  const postgres = createPostgresLog({ database, logger });
  const copied = options.metrics?.counter(
    'millrace_log_fallback_copied_total',
    'Records copied from the fallback log in PostgreSQL to Kafka',
    [],
  );
  const stopping = new AbortController();

  async function copy(batch: LogBatch, { signal }: BatchContext): Promise<BatchResult> {
    // Poll, because the log's retry delays grow to seconds, and copying should start soon after Kafka is available
    // again.
    while (!kafka.isHealthy() && !signal.aborted) await sleep(waitForKafkaMs, signal);
    signal.throwIfAborted();
    await append(batch);
    const [last] = batch.records.slice(-1);
    if (last === undefined) throw new Error('a batch must contain at least one record');
    const key = { topic, partition: batch.partition, group: drainGroup, log: batch.log };
    return database.transaction(async (tx): Promise<BatchResult> => {
      const stored = await lockOffset(tx, key);
      // Another process has copied the same records in this partition.
      if (stored !== (batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: stored };
      await advanceOffset(tx, key, last);
      copied?.inc({}, batch.records.length);
      return { outcome: 'done', nextOffset: last.offset + 1n };
    });
  }

  async function append(batch: LogBatch): Promise<void> {
    try {
      await kafka.append(batch.records.map(toRecord));
    } catch (error) {
      if (isAppError(error, 'too_large')) {
        // The record was acknowledged, so it must not be skipped. All gateways keep using the fallback until an
        // operator fixes the problem.
        logger.error(
          'could not copy a record from the fallback log: it is larger than Kafka accepts. Raise message.max.bytes',
          {
            topic,
            partition: batch.partition,
            offset: String(batch.records[0]?.offset),
          },
        );
      }
      throw error;
    }
  }

  async function begin(): Promise<LogConsumer | null> {
    for (let failures = 1; !stopping.signal.aborted; failures += 1) {
      try {
        await postgres.ensureTopics([{ topic, partitions: options.partitions }]);
        return await postgres.consume({
          topic,
          group: drainGroup,
          maxBatchRecords,
          maxBatchBytes,
          partitionConcurrency,
          startOffset: (partition, log) => readOffset(database.sql, { topic, partition, group: drainGroup, log }),
          handler: copy,
          onFatal: options.onFatal,
        });
      } catch (error) {
        logger.debug('could not read the fallback log; retrying', { topic, error });
        await sleep(backoffMs(failures), stopping.signal);
      }
    }
    return null;
  }

  const firstRound = begin();
  return {
    async stop() {
      stopping.abort();
      await (await firstRound)?.stop();
      await postgres.close();
    },
  };
}

function toRecord({ key, value, headers }: LogRecord): AppendRecord {
  const { [topicHeader]: topic, ...rest } = headers;
  if (topic === undefined) throw new Error('a record of the fallback log has no topic');
  return { topic, key, value, headers: rest };
}
