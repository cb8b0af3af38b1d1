import { limitConcurrency } from '../consume/limit-concurrency.ts';
import { type LeasedPartition, type LeasedPartitionDeps, readLeasedPartition } from './leased-partition.ts';
import { type Member, releaseLeases } from './membership-store.ts';

export interface HeldPartitionsDeps extends Omit<LeasedPartitionDeps, 'partition' | 'endOffset' | 'log' | 'whenFree'> {
  member: Member;
  /** As last seen. */
  endOffset(partition: number): bigint;
  logOf(partition: number): string | undefined;
}

/** The partitions this member reads, and those it is about to give up. */
export function createHeldPartitions(deps: HeldPartitionsDeps) {
  const { database, logger, member, consume } = deps;
  const { topic, group } = consume;
  const whenFree = limitConcurrency(consume.partitionConcurrency);
  const held = new Map<number, LeasedPartition>();
  const ending = new Map<number, Promise<void>>();

  function begin(partition: number): void {
    if (held.has(partition) || ending.has(partition)) return;
    logger.debug('took a partition', { topic, group, partition });
    held.set(
      partition,
      readLeasedPartition({
        ...deps,
        ...{ partition, whenFree },
        endOffset: () => deps.endOffset(partition),
        log: () => deps.logOf(partition),
      }),
    );
  }

  /** Stops reading; resolves when the batch in hand is over. Until then the partition is not begun anew. */
  function end(partition: number): Promise<void> {
    const reader = held.get(partition);
    if (reader === undefined) return ending.get(partition) ?? Promise.resolve();
    held.delete(partition);
    const ended = reader.stop().finally(() => ending.delete(partition));
    ending.set(partition, ended);
    return ended;
  }

  async function giveUp(partition: number): Promise<void> {
    await end(partition);
    try {
      await releaseLeases(database.sql, member, [partition]);
      logger.debug('gave up a partition', { topic, group, partition });
    } catch (error) {
      // The next heartbeat finds the lease still there and does this again.
      logger.debug('a lease could not be given back', { topic, group, partition, error });
    }
  }

  return {
    begin,
    end,
    giveUp,
    size: () => held.size,
    numbers: () => [...held.keys()],
    wakeAll(): void {
      for (const partition of held.values()) partition.wake();
    },
    /** Resolves when the batches in hand are over. */
    endAll: () => Promise.all([...held.keys(), ...ending.keys()].map(end)),
  };
}
