/** A month this process knew to have a partition has none any more; it is made again when the batch is. */
export class PartitionMissing extends Error {
  constructor(cause: unknown) {
    super('a partition of the event table is gone', { cause });
    this.name = 'PartitionMissing';
  }
}
