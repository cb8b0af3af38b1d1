import { createDropTally, type DropTally } from '../event/drop-tally.ts';
import type { ValidatedBatch } from '../request-v1/validate-batch.ts';
import type { V1Results } from './v1-results.ts';

/**
 * A tally that knows of the events left out before, and tells the results of all that are left out: also of those that
 * leave later, by the operator's lists or because they are too large for the log. These are numbered as the events that
 * go on are; a project is told their places in the batch.
 */
export function createV1Tally(
  { drops, places }: Pick<ValidatedBatch, 'drops' | 'places'>,
  results: V1Results,
): DropTally {
  const tally = createDropTally();
  for (const { reason, places: droppedPlaces, samples } of drops) {
    for (const [number, place] of droppedPlaces.entries()) {
      results.dropped(place, reason);
      tally.add(reason, samples[number] ?? { index: place, uuid: null, event: null });
    }
  }
  const placeOf = (index: number) => places[index] ?? index;
  return {
    ...tally,
    add(reason, sample) {
      const index = placeOf(sample.index);
      results.dropped(index, reason);
      tally.add(reason, { ...sample, index });
    },
    note: (finding, sample) => tally.note(finding, { ...sample, index: placeOf(sample.index) }),
  };
}
