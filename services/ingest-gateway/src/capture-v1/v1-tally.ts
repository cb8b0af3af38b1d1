import { createDropTally, type DropTally } from '../event/drop-tally.ts';
import type { ValidatedBatch } from '../request-v1/validate-batch.ts';
import type { V1Results } from './v1-results.ts';

/**
 * A tally that also enters each dropped event into the results, and that begins with the events that validation
 * dropped. Events that are dropped later (by the operator's lists, or because they are too large for the log) are
 * numbered among those that validation let through. Here they get their index in the batch, which is what the project
 * is told.
 */
export function createV1Tally(
  { drops, indexes }: Pick<ValidatedBatch, 'drops' | 'indexes'>,
  results: V1Results,
): DropTally {
  const tally = createDropTally();
  for (const { reason, indexes: droppedIndexes, samples } of drops) {
    for (const [number, index] of droppedIndexes.entries()) {
      results.dropped(index, reason);
      tally.add(reason, samples[number] ?? { index, uuid: null, event: null });
    }
  }
  const indexInBatch = (index: number) => indexes[index] ?? index;
  return {
    ...tally,
    add(reason, sample) {
      const index = indexInBatch(sample.index);
      results.dropped(index, reason);
      tally.add(reason, { ...sample, index });
    },
    note: (finding, sample) => tally.note(finding, { ...sample, index: indexInBatch(sample.index) }),
  };
}
