import type { SqlDatabase } from '@millrace/db/sql';
import { type Logger, sleep } from '@millrace/runtime';
import { backoffMs } from '../backoff.ts';
import { type Delivery, deliver } from '../consume/deliver.ts';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import { type Truncation, truncatedPauseMs } from '../consume/truncation.ts';
import type { ConsumeOptions, StoredOffset } from '../log.ts';
import { markedOffset, recordMark } from '../offsets-store.ts';
import { type LogBounds, readBounds, readRecords } from './store.ts';

export interface LeasedPartitionDeps {
  database: SqlDatabase;
  logger: Logger;
  metrics: ConsumeMetrics;
  consume: ConsumeOptions;
  partition: number;
  /** End of the partition as last seen. */
  endOffset(): bigint;
  /** Identity of its log as last seen. */
  log(): string | undefined;
  truncation: Truncation;
  /** Runs work when fewer than the member's `partitionConcurrency` partitions are at work. */
  whenFree<T>(work: () => Promise<T>): Promise<T>;
}

export interface LeasedPartition {
  /** The end may have moved. */
  wake(): void;
  /** Begins nothing new and resolves when the batch under way is over. */
  stop(): Promise<void>;
}

/** Reads one partition, batch after batch, as long as this member holds its lease. */
export function readLeasedPartition(deps: LeasedPartitionDeps): LeasedPartition {
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
        // Its tables were emptied, and it was created again.
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

  /** @returns how long to wait before the next, in milliseconds. */
  const step = async (from: LeasedStart) => accept(from.log, await handOver(deps, from, signal));

  /** Asks for the stored offset again: it is what the next batch must go on from. */
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
        // Of the log that was read: should it be another one by now, the next round sees it.
        at = { ...startWithin(deps, delivery.nextOffset, bounds), log };
        // The first time at once. A handler that reports it again and again must not be called at full speed.
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

/** Leases are renewed by the member's own heartbeat, whatever the handler does. */
async function heartbeat(): Promise<void> {}

/** Reads and hands over one batch. */
async function handOver(
  deps: LeasedPartitionDeps,
  { log, position, continuesFrom }: LeasedStart,
  signal: AbortSignal,
): Promise<Delivery> {
  const { database, consume, partition } = deps;
  const { topic, maxBatchRecords: maxRecords, maxBatchBytes: maxBytes } = consume;
  if (signal.aborted) return { outcome: 'interrupted' };
  const where = { topic, partition, fromOffset: position };
  const records = await readRecords(database.sql, where, { maxRecords, maxBytes });
  if (signal.aborted) return { outcome: 'interrupted' };
  // The end said that there are some.
  if (records.length === 0) return { outcome: 'failed' };
  return deliver(deps, { topic, partition, log, continuesFrom, records }, { signal, heartbeat });
}

function createBell(stopping: AbortSignal) {
  let wakeUp: (() => void) | null = null;
  return {
    rung(): Promise<void> {
      // Stopping could not wake this loop while the start was being looked up.
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
  truncation: Truncation;
}

/** Where reading a partition begins. */
interface LeasedStart {
  /** Identity of the log. */
  log: string;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  position: bigint;
}

/** @returns null when the log was truncated: skipping or repeating is for a person to decide. */
async function findLeasedStart(deps: LeasedStartDeps): Promise<LeasedStart | null> {
  const { database, consume, partition } = deps;
  const { topic } = consume;
  const { log } = await readBounds(database.sql, topic, partition);
  const stored = await consume.startOffset(partition, log);
  // The end is asked for after the offset was read: another member may have moved it.
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
  const { nextOffset, recordBefore } = stored;
  if (nextOffset > end) {
    truncation.found(partition, stored, { log, endOffset: String(end) });
    return true;
  }
  // Retention may have removed it; then only the identity tells that this is the log.
  if (recordBefore === null || markedOffset(recordBefore) < beginning) return false;
  const where = { topic, partition, fromOffset: markedOffset(recordBefore) };
  const [record] = await readRecords(database.sql, where, { maxRecords: 1, maxBytes: 1 });
  if (record === undefined || record.offset !== where.fromOffset || recordMark(record) === recordBefore) return false;
  truncation.found(partition, stored, { log, expected: recordBefore, found: recordMark(record) });
  return true;
}

/** The stored offset, or the oldest record where retention was faster. */
function startWithin(
  { truncation, partition }: LeasedStartDeps,
  stored: bigint | null,
  { log, beginning }: LogBounds,
): LeasedStart {
  if (stored !== null) truncation.deletedUnread(partition, stored, beginning);
  return { log, continuesFrom: stored, position: stored === null || stored < beginning ? beginning : stored };
}
