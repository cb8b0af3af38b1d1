import type { SqlDatabase } from '@millrace/db/sql';
import { type Logger, sleep } from '@millrace/runtime';
import { backoffMs } from '../backoff.ts';
import { type Delivery, deliverBatch } from '../consume/deliver.ts';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import { type TruncationReporter, truncatedPauseMs } from '../consume/truncation.ts';
import type { ConsumeOptions, StoredOffset } from '../log.ts';
import { computeRecordFingerprint, parseFingerprintOffset } from '../offsets-store.ts';
import { type LogBounds, readBounds, readRecords } from './store.ts';

export interface LeasedPartitionReaderDeps {
  database: SqlDatabase;
  logger: Logger;
  metrics: ConsumeMetrics;
  consume: ConsumeOptions;
  partition: number;
  endOffset(): bigint;
  /** Returns the partition's log ID, which the member polls, or undefined before the first poll. */
  log(): string | undefined;
  truncation: TruncationReporter;
  /** Runs `work` as soon as fewer than `partitionConcurrency` of the member's partitions are busy. */
  whenFree<T>(work: () => Promise<T>): Promise<T>;
}

export interface LeasedPartitionReader {
  wake(): void;
  /** Prevents new batches, and resolves when the in-flight batch has finished. */
  stop(): Promise<void>;
}

/** Reads one partition of the PostgreSQL log batch by batch while this member holds the partition's lease. */
export function startLeasedPartitionReader(deps: LeasedPartitionReaderDeps): LeasedPartitionReader {
  const { database, logger, consume, partition } = deps;
  const { topic, group } = consume;
  const abort = new AbortController();
  const { signal } = abort;
  let at: LeasedStart | null = null;
  let failures = 0;
  const bell = createBell(signal);

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        // The log ID changes if the log's tables are emptied and the topic is created again.
        if (at?.log !== deps.log()) at = null;
        at ??= await findLeasedStart(deps);
        const from = at;
        if (from === null) await sleep(truncatedPauseMs, signal);
        else if (from.position >= deps.endOffset()) await bell.rung();
        else await sleep(await deps.whenFree(() => step(from)), signal);
      } catch (error) {
        failures += 1;
        logger.warn('could not read a partition', { topic, group, partition, error });
        await sleep(backoffMs(failures), signal);
      }
    }
  }

  const step = async (from: LeasedStart) => accept(from.log, await handOver(deps, from, signal));

  /** Makes the next step read the stored offset again, because the next batch must continue from it. */
  function beginAgain(): number {
    at = null;
    failures += 1;
    return backoffMs(failures);
  }

  async function accept(log: string, delivery: Delivery): Promise<number> {
    switch (delivery.outcome) {
      case 'done':
        failures = 0;
        at = { log, position: delivery.nextOffset, continuesFrom: delivery.nextOffset };
        deps.metrics.lag(topic, group, partition, Number(deps.endOffset() - delivery.nextOffset));
        return 0;
      case 'stale': {
        failures += 1;
        const bounds = await readBounds(database.sql, topic, partition);
        // Keep the ID of the log that was read. If the ID has changed since, the next iteration detects the change.
        at = { ...startWithin(deps, delivery.nextOffset, bounds), log };
        // Do not delay the first attempt. Delay all further attempts, so that a handler that keeps reporting `stale` is
        // not called in a tight loop.
        return failures > 1 ? backoffMs(failures - 1) : 0;
      }
      case 'failed':
        return beginAgain();
      case 'interrupted':
        return 0;
    }
  }

  const running = run();
  return {
    wake: bell.ring,
    async stop() {
      abort.abort();
      bell.ring();
      await running;
      deps.metrics.forgetLag(topic, group, partition);
      deps.metrics.truncated(topic, group, partition, false);
    },
  };
}

/** The member's own heartbeat renews the leases during long work, so this function does nothing. */
async function heartbeat(): Promise<void> {}

async function handOver(
  deps: LeasedPartitionReaderDeps,
  { log, position, continuesFrom }: LeasedStart,
  signal: AbortSignal,
): Promise<Delivery> {
  const { database, consume, partition } = deps;
  const { topic, maxBatchRecords: maxRecords, maxBatchBytes: maxBytes } = consume;
  if (signal.aborted) return { outcome: 'interrupted' };
  const where = { topic, partition, fromOffset: position };
  const records = await readRecords(database.sql, where, { maxRecords, maxBytes });
  if (signal.aborted) return { outcome: 'interrupted' };
  // The end offset shows that records exist, so an empty result counts as a failure.
  if (records.length === 0) return { outcome: 'failed' };
  return deliverBatch(deps, { topic, partition, log, continuesFrom, records }, { signal, heartbeat });
}

function createBell(stopping: AbortSignal) {
  let wakeUp: (() => void) | null = null;
  return {
    rung(): Promise<void> {
      // The signal may already have aborted during the lookup of the start position.
      if (stopping.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        wakeUp = resolve;
      });
    },
    ring(): void {
      wakeUp?.();
      wakeUp = null;
    },
  };
}

interface LeasedStartDeps {
  database: Pick<SqlDatabase, 'sql'>;
  consume: Pick<ConsumeOptions, 'topic' | 'group' | 'startOffset'>;
  partition: number;
  truncation: TruncationReporter;
}

interface LeasedStart {
  log: string;
  continuesFrom: bigint | null;
  position: bigint;
}

/**
 * Determines where reading a partition starts.
 * @returns null if the log was truncated, because an operator must decide whether to skip records or to repeat them
 */
async function findLeasedStart(deps: LeasedStartDeps): Promise<LeasedStart | null> {
  const { database, consume, partition } = deps;
  const { topic } = consume;
  const { log } = await readBounds(database.sql, topic, partition);
  const stored = await consume.startOffset(partition, log);
  // Read the end offset last. Otherwise, another member could advance the stored offset beyond it in the meantime.
  const bounds = await readBounds(database.sql, topic, partition);
  if (bounds.log !== log) return null;
  if (stored !== null && (await isMissing(deps, stored, bounds))) return null;
  deps.truncation.over(partition);
  return startWithin(deps, stored?.nextOffset ?? null, bounds);
}

async function isMissing(
  { database, consume: { topic }, partition, truncation }: LeasedStartDeps,
  stored: StoredOffset,
  { log, end, beginning }: LogBounds,
): Promise<boolean> {
  const { nextOffset, lastRecordFingerprint } = stored;
  if (nextOffset > end) {
    truncation.found(partition, stored, { log, endOffset: String(end) });
    return true;
  }
  // Retention may have deleted the record. If so, only the log ID shows that the stored offset belongs to this log.
  if (lastRecordFingerprint === null || parseFingerprintOffset(lastRecordFingerprint) < beginning) return false;
  const where = { topic, partition, fromOffset: parseFingerprintOffset(lastRecordFingerprint) };
  const [record] = await readRecords(database.sql, where, { maxRecords: 1, maxBytes: 1 });
  if (
    record === undefined ||
    record.offset !== where.fromOffset ||
    computeRecordFingerprint(record) === lastRecordFingerprint
  )
    return false;
  truncation.found(partition, stored, {
    log,
    expected: lastRecordFingerprint,
    found: computeRecordFingerprint(record),
  });
  return true;
}

/** Starts at the stored offset, or at the oldest record if retention has deleted the records in between. */
function startWithin(
  { truncation, partition }: LeasedStartDeps,
  stored: bigint | null,
  { log, beginning }: LogBounds,
): LeasedStart {
  if (stored !== null) truncation.deletedUnread(partition, stored, beginning);
  return { log, continuesFrom: stored, position: stored === null || stored < beginning ? beginning : stored };
}
