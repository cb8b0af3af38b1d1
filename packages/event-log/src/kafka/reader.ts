// Validates, buffers and delivers the records fetched from Kafka.

import { type Logger, limitConcurrency, sleep } from '@millrace/runtime';
import type { EachBatchPayload, IHeaders, KafkaMessage } from 'kafkajs';
import { backoffMs } from '../backoff.ts';
import { type Delivery, deliverBatch, takeBatch } from '../consume/deliver.ts';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import { type TruncationReporter, truncatedPauseMs } from '../consume/truncation.ts';
import type { BatchContext, ConsumeOptions, LogRecord } from '../log.ts';
import { computeRecordFingerprint } from '../offsets-store.ts';
import { findNewestLeaderEpoch } from './kafkajs-internals/metadata.ts';
import type { AssignedPartition, OffsetCommitter, RecordBuffer } from './partitions.ts';
import type { StartPositions } from './positions.ts';

interface PartitionReaderDeps extends FetchCheckDeps, PartitionDeliveryDeps {
  consume: PartitionDeliveryDeps['consume'];
  interruptAll(): void;
}

const membershipLost = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']);

export function createPartitionReader(deps: PartitionReaderDeps) {
  const { waiting } = deps;
  const { expectedRecords, skipLastRecord } = createFetchCheck(deps);
  const { deliverWaiting } = createPartitionDelivery(deps);

  /** Validates and buffers the records from one fetch. Resolves when kafkajs can fetch more records. */
  async function read(partition: AssignedPartition, payload: EachBatchPayload): Promise<void> {
    const fetched = expectedRecords(partition, payload);
    // Without a pause, kafkajs would immediately return the same records again.
    if (fetched === null) return sleep(20);
    const records = skipLastRecord(partition, fetched);
    if (records === null) return;
    partition.highWatermark = BigInt(payload.batch.highWatermark);
    partition.heartbeat = () => heartbeat(payload);
    waiting.add(partition, records);
    payload.resolveOffset(String(fetched.at(-1)?.offset));
    deliverWaiting(partition);
    await waiting.room(partition.heartbeat);
  }

  async function heartbeat(payload: EachBatchPayload): Promise<void> {
    try {
      await payload.heartbeat();
    } catch (error) {
      if (membershipLost.has(String((error as { type?: unknown }).type))) deps.interruptAll();
    }
  }

  return { read };
}

interface PartitionDeliveryDeps {
  consume: ConsumeOptions;
  logger: Logger;
  metrics: ConsumeMetrics;
  positions: StartPositions;
  waiting: RecordBuffer;
  commits: OffsetCommitter;
}

/** Delivers waiting records batch by batch, from at most `partitionConcurrency` partitions at the same time. */
function createPartitionDelivery(deps: PartitionDeliveryDeps) {
  const { consume, metrics, positions, waiting, commits } = deps;
  const { topic, group } = consume;
  const whenFree = limitConcurrency(consume.partitionConcurrency);

  /**
   * Delivers a batch of waiting records. After each batch, the partition moves to the end of the queue of partitions.
   */
  function deliverWaiting(partition: AssignedPartition): void {
    if (partition.delivery !== null || partition.waiting.length === 0) return;
    partition.delivery = whenFree(() => deliverNext(partition)).then(() => {
      partition.delivery = null;
      deliverWaiting(partition);
    });
  }

  async function deliverNext(partition: AssignedPartition): Promise<void> {
    const { signal } = partition.abort;
    if (signal.aborted || partition.waiting.length === 0) return;
    const batch = {
      topic,
      partition: partition.partition,
      log: partition.log,
      continuesFrom: partition.continuesFrom,
      records: takeBatch(partition.waiting, 0, consume.maxBatchRecords, consume.maxBatchBytes),
    };
    const context: BatchContext = { signal, heartbeat: partition.heartbeat };
    accept(partition, await deliverBatch(deps, batch, context));
  }

  function accept(partition: AssignedPartition, delivery: Delivery): void {
    switch (delivery.outcome) {
      case 'done':
        advance(partition, delivery.nextOffset);
        return;
      case 'stale':
        partition.failures += 1;
        // Do not delay the first attempt. Delay all further attempts, so that a handler that always reports `stale` is
        // not called in a tight loop.
        void positions.resumeFrom(
          partition,
          delivery.nextOffset,
          partition.failures > 1 ? backoffMs(partition.failures - 1) : 0,
        );
        return;
      case 'failed':
        partition.failures += 1;
        void positions.resumeFromStored(partition, backoffMs(partition.failures));
        return;
      case 'interrupted':
        return;
    }
  }

  function advance(partition: AssignedPartition, nextOffset: bigint): void {
    partition.failures = 0;
    partition.continuesFrom = nextOffset;
    waiting.removeBelow(partition, nextOffset);
    commits.reached(partition.partition, nextOffset);
    metrics.lag(topic, group, partition.partition, Number(partition.highWatermark - nextOffset));
  }

  return { deliverWaiting };
}

interface FetchCheckDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group'>;
  logger: Logger;
  positions: StartPositions;
  truncation: TruncationReporter;
}

/**
 * The delay in milliseconds before a partition restarts after fetched records repeatedly did not match its position.
 */
const beginAgainMs = 250;

/**
 * Creates functions that check whether fetched records begin at the partition's position. If they do not, the functions
 * restart the partition from its stored offset.
 */
function createFetchCheck({ consume, logger, positions, truncation }: FetchCheckDeps) {
  const { topic, group } = consume;

  /** Returns the fetched records that begin at the partition's position, or null if none of them can be used. */
  function expectedRecords(partition: AssignedPartition, { batch, isStale }: EachBatchPayload): LogRecord[] | null {
    const { fetchPosition } = partition;
    if (fetchPosition === null || partition.abort.signal.aborted || isStale()) return null;
    if (hasNewLeader(partition, findNewestLeaderEpoch(batch.messages))) return null;
    const records = batch.messages.map(toLogRecord).filter(({ offset }) => offset >= fetchPosition);
    const first = records[0];
    if (first === undefined && batch.messages.length > 0) {
      // If the log ends before the requested offset, kafkajs starts again from the oldest record. Resume from the
      // stored offset instead.
      void positions.resumeFromStored(partition, beginAgainMs);
      return null;
    }
    if (first === undefined || !isContiguous(partition, fetchPosition, first.offset)) {
      positions.seekAgain(partition);
      return null;
    }
    partition.suspectedGap = null;
    return records;
  }

  /**
   * Returns whether the partition has a new leader. If so, restarts the partition, because the new leader may lack
   * records that the former leader had.
   */
  function hasNewLeader(partition: AssignedPartition, epoch: number | null): boolean {
    if (epoch === null || partition.leaderEpoch === null || epoch <= partition.leaderEpoch) return false;
    void positions.resumeFromStored(partition, 0);
    return true;
  }

  /**
   * Removes the record before the start position, which is fetched again after a start. That record must be the last
   * one whose effects were stored.
   * @returns the remaining records, or null if the removed record is a different one
   */
  function skipLastRecord(partition: AssignedPartition, records: LogRecord[]): LogRecord[] | null {
    const { lastRecordFingerprint, continuesFrom, fetchPosition } = partition;
    if (lastRecordFingerprint === null) return records;
    partition.lastRecordFingerprint = null;
    const [first, ...rest] = records;
    // Compaction may have deleted the record before the start position. In that case, it cannot be checked.
    if (first === undefined || first.offset !== fetchPosition) return records;
    partition.fetchPosition = continuesFrom;
    const found = computeRecordFingerprint(first);
    if (found === lastRecordFingerprint) {
      truncation.over(partition.partition);
      return rest;
    }
    const stored = { nextOffset: continuesFrom ?? 0n, lastRecordFingerprint };
    truncation.found(partition.partition, stored, { log: partition.log, expected: lastRecordFingerprint, found });
    partition.missingRecord = lastRecordFingerprint;
    void positions.resumeFromStored(partition, truncatedPauseMs);
    return null;
  }

  /** Accepts a gap before the first record only if a seek to the start of the gap returns the same gap. */
  function isContiguous(partition: AssignedPartition, position: bigint, first: bigint): boolean {
    if (first === position) return true;
    if (partition.suspectedGap !== first) {
      partition.suspectedGap = first;
      return false;
    }
    logger.warn('skipped offsets for which the log has no records', {
      topic,
      group,
      partition: partition.partition,
      fromOffset: String(position),
      toOffset: String(first),
    });
    return true;
  }

  return { expectedRecords, skipLastRecord };
}

/** Converts a fetched message. A null value (tombstone) becomes an empty value. */
function toLogRecord(message: KafkaMessage): LogRecord {
  return {
    offset: BigInt(message.offset),
    key: message.key === null ? null : message.key.toString('utf8'),
    value: message.value ?? Buffer.alloc(0),
    headers: toHeaders(message.headers),
    appendedAtMs: Number(message.timestamp),
  };
}

const noHeaders: Record<string, string> = Object.freeze({});

/**
 * Converts headers. In Kafka, a header name can occur several times, with arbitrary bytes as values. `LogRecord` has
 * one string per name: the last value.
 */
function toHeaders(headers: IHeaders | undefined): Record<string, string> {
  const entries = Object.entries(headers ?? {});
  // Nearly all records have no headers. They share one object, because the garbage collector would otherwise copy an
  // empty object for each record.
  if (entries.length === 0) return noHeaders;
  const result: Record<string, string> = {};
  for (const [name, value] of entries) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) result[name] = last.toString();
  }
  return result;
}
