import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { type Delivery, deliver } from '../consume/deliver.ts';
import { type Truncation, truncatedPauseMs } from '../consume/truncation.ts';
import { markedOffset, recordMark } from '../offsets/record-mark.ts';
import type { ConsumeOptions, StoredOffset } from '../port/event-log.ts';
import { firstAppendedAfter, type LogBounds, readBounds, readRecords } from './event-log-store.ts';

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
  /** Begins nothing new and resolves when the batch in hand is over. */
  stop(): Promise<void>;
}

/** Reads one partition, batch after batch, as long as this member holds its lease. */
export function readLeasedPartition(deps: LeasedPartitionDeps): LeasedPartition {
  const { database, logger, consume, partition } = deps;
  const { topic, group } = consume;
  const abort = new AbortController();
  const { signal } = abort;
  let log: string | undefined;
  let position: bigint | null = null;
  let continuesFrom: bigint | null = null;
  let failures = 0;
  let wakeUp: (() => void) | null = null;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        // Its tables were emptied, and it was created again.
        if (log !== deps.log()) position = null;
        const from = position ?? (await begin());
        if (from === null) await sleep(truncatedPauseMs, signal);
        else if (from >= deps.endOffset()) await untilWoken();
        else await sleep(await deps.whenFree(() => step(from)), signal);
      } catch (error) {
        failures += 1;
        logger.warn('a partition could not be read', { topic, group, partition, error });
        await sleep(backoffMs(failures), signal);
      }
    }
  }

  /** @returns null when the log was truncated: skipping or repeating is for a person to decide. */
  async function begin(): Promise<bigint | null> {
    const found = await readBounds(database.sql, topic, partition);
    const stored = await consume.startOffset(topic, partition, {
      log: found.log,
      end: async () => found.end,
      firstAppendedAfter: (ms) => firstAppendedAfter(database.sql, topic, partition, ms),
    });
    log = found.log;
    // The end is asked for after the offset was read: another member may have moved it.
    const bounds = await readBounds(database.sql, topic, partition);
    if (bounds.log !== log) return null;
    if (stored !== null && (await isMissing(stored, bounds))) return null;
    deps.truncation.over(partition);
    return beginFrom(stored?.nextOffset ?? null, bounds);
  }

  async function isMissing(stored: StoredOffset, { end, beginning }: LogBounds): Promise<boolean> {
    const { nextOffset, recordBefore } = stored;
    if (nextOffset > end) {
      deps.truncation.found(partition, stored, { log, endOffset: String(end) });
      return true;
    }
    // Retention may have removed it; then only the identity tells that this is the log.
    if (recordBefore === null || markedOffset(recordBefore) < beginning) return false;
    const where = { topic, partition, fromOffset: markedOffset(recordBefore) };
    const [record] = await readRecords(database.sql, where, { maxRecords: 1, maxBytes: 1 });
    if (record === undefined || record.offset !== where.fromOffset || recordMark(record) === recordBefore) return false;
    deps.truncation.found(partition, stored, { log, expected: recordBefore, found: recordMark(record) });
    return true;
  }

  function beginFrom(stored: bigint | null, { beginning, end }: Pick<LogBounds, 'beginning' | 'end'>): bigint {
    if (stored !== null && stored < beginning) {
      logger.warn('retention has removed records that were not consumed', {
        ...{ topic, group, partition },
        ...{ storedOffset: String(stored), startOffset: String(beginning), endOffset: String(end) },
      });
    }
    continuesFrom = stored;
    position = stored === null || stored < beginning ? beginning : stored;
    return position;
  }

  /** Reads and hands over one batch; returns how long to wait before the next, in milliseconds. */
  async function step(from: bigint): Promise<number> {
    if (signal.aborted) return 0;
    const records = await readRecords(
      database.sql,
      { topic, partition, fromOffset: from },
      { maxRecords: consume.maxBatchRecords, maxBytes: consume.maxBatchBytes },
    );
    if (signal.aborted) return 0;
    if (records.length === 0) return beginAgain();
    const batch = { topic, partition, log: log ?? '', continuesFrom, records };
    return accept(await deliver(deps, batch, { signal, heartbeat }));
  }

  /** Asks for the stored offset again: it is what the next batch must go on from. */
  function beginAgain(): number {
    position = null;
    failures += 1;
    return backoffMs(failures);
  }

  async function accept(delivery: Delivery): Promise<number> {
    switch (delivery.outcome) {
      case 'done':
        failures = 0;
        position = delivery.nextOffset;
        continuesFrom = delivery.nextOffset;
        deps.metrics.lag(topic, group, partition, Number(deps.endOffset() - delivery.nextOffset));
        return 0;
      case 'stale':
        failures += 1;
        beginFrom(delivery.nextOffset, await readBounds(database.sql, topic, partition));
        // The first time at once. A handler that reports it again and again must not be called at full speed.
        return failures > 1 ? backoffMs(failures - 1) : 0;
      case 'failed':
        return beginAgain();
      case 'interrupted':
        return 0;
    }
  }

  function untilWoken(): Promise<void> {
    // Stopping could not wake this loop while the start was being looked up.
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      wakeUp = resolve;
    });
  }

  function wake(): void {
    wakeUp?.();
    wakeUp = null;
  }

  const running = run();
  return {
    wake,
    async stop() {
      abort.abort();
      wake();
      await running;
      deps.metrics.forgetLag(topic, group, partition);
      deps.metrics.truncated(topic, group, partition, false);
    },
  };
}

/** Leases are renewed by the member's own heartbeat, whatever the handler does. */
async function heartbeat(): Promise<void> {}
