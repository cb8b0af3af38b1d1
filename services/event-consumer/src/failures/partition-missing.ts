/**
 * A month had a partition, as far as this process knew, and has none any more. It is made again when the batch is
 * repeated.
 */
export class PartitionMissing extends Error {
  constructor(cause: unknown) {
    super('a partition of the event table is gone', { cause });
    this.name = 'PartitionMissing';
  }
}
