/** A partition this member holds in the current generation of its group. */
export interface AssignedPartition {
  readonly partition: number;
  /** Aborts when the member stops, or the group rebalances and the partition may go to another member. */
  readonly abort: AbortController;
  /** Offset of the next record to deliver; null until it has been looked up. kafkajs's own position is never trusted. */
  position: bigint | null;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  /** Batches in a row without progress: handler failures and stale answers. */
  failures: number;
  /** First record beyond a hole seen once: the hole is real when it is there again after an explicit seek. */
  suspectedGap: bigint | null;
  isBusy: boolean;
}

export function createAssignedPartition(partition: number): AssignedPartition {
  return {
    partition,
    abort: new AbortController(),
    position: null,
    continuesFrom: null,
    failures: 0,
    suspectedGap: null,
    isBusy: false,
  };
}
