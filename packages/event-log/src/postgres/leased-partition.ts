import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { type Delivery, deliver } from '../consume/deliver.ts';
import type { ConsumeOptions } from '../event-log.ts';
import { readBounds, readRecords } from './event-log-store.ts';

export interface LeasedPartitionDeps {
  database: SqlDatabase;
  logger: Logger;
  metrics: ConsumeMetrics;
  consume: ConsumeOptions;
  partition: number;
  /** End of the partition as last seen. */
  endOffset(): bigint;
  /** Runs work when one of the member's `partitionConcurrency` places is free. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
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
  let position: bigint | null = null;
  let continuesFrom: bigint | null = null;
  let failures = 0;
  let wakeUp: (() => void) | null = null;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const from = position ?? (await begin());
        if (from >= deps.endOffset()) await untilWoken();
        else await sleep(await deps.inTurn(() => step(from)), signal);
      } catch (error) {
        failures += 1;
        logger.warn('a partition could not be read', { topic, group, partition, error });
        await sleep(backoffMs(failures), signal);
      }
    }
  }

  async function begin(): Promise<bigint> {
    return beginFrom(await consume.startOffset(topic, partition));
  }

  async function beginFrom(stored: bigint | null): Promise<bigint> {
    const { beginning, end } = await readBounds(database.sql, topic, partition);
    const offsets = { storedOffset: String(stored), startOffset: String(beginning), endOffset: String(end) };
    if (stored !== null && stored > end) {
      // Waits until the log has grown so far: skipping or repeating is for a person to decide.
      logger.error('the stored offset is beyond the end of the log; the partition waits', {
        ...{ topic, group, partition },
        ...offsets,
      });
    }
    if (stored !== null && stored < beginning) {
      logger.warn('retention has removed records that were not consumed', {
        ...{ topic, group, partition },
        ...offsets,
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
    const batch = { topic, partition, continuesFrom, records };
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
        await beginFrom(delivery.nextOffset);
        // The first time at once; a handler that says so again and again must not be asked at full speed.
        return failures > 1 ? backoffMs(failures - 1) : 0;
      case 'failed':
        return beginAgain();
      case 'interrupted':
        return 0;
    }
  }

  function untilWoken(): Promise<void> {
    // Stopping may have woken nobody: the start was just being looked up.
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
    },
  };
}

/** Leases are renewed by the member's own beat, whatever the handler does. */
async function heartbeat(): Promise<void> {}
