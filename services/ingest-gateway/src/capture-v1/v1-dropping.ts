import type { CaptureMetrics } from '../capture/capture-metrics.ts';
import type { ClientEvent } from '../capture/capture-schema.ts';
import type { DropReason } from '../capture/drop-tally.ts';
import type { CapturedEvents } from '../capture/to-captured-events.ts';
import type { V1Batch } from './parse-v1-batch.ts';
import { readV1Event, type V1DropReason } from './read-v1-event.ts';
import type { V1Head } from './v1-head.ts';
import { createV1Results, type V1Results } from './v1-results.ts';

/** A batch after every event was looked at for itself. */
export interface JudgedBatch {
  /** The events that go on. */
  events: ClientEvent[];
  /** For each of them its place in the batch. */
  places: number[];
  dropped: { place: number; reason: V1DropReason; uuid: string; name: string | null }[];
  results: V1Results;
}

/** Separates the events that can be stored from those that cannot, and notes the latter in the results. */
export function judgeBatch(batch: V1Batch, head: V1Head): JudgedBatch {
  const results = createV1Results(batch.events.map(({ uuid }) => uuid));
  const judged: JudgedBatch = { events: [], places: [], dropped: [], results };
  for (const [place, sent] of batch.events.entries()) {
    const reading = readV1Event(sent, head);
    if (reading.outcome === 'event') {
      judged.events.push(reading.event);
      judged.places.push(place);
      continue;
    }
    const { reason } = reading;
    const name = sent.fields?.event;
    judged.dropped.push({ place, reason, uuid: sent.uuid, name: typeof name === 'string' ? name : null });
    results.dropped(place, reason);
  }
  return judged;
}

/** Reasons the other capture paths know as well: projects get a warning of them. */
const sharedReasons = new Map<V1DropReason, DropReason>([
  ['performance_event', 'performance_event'],
  ['missing_event_name', 'missing_event_name'],
  ['missing_distinct_id', 'missing_distinct_id'],
  ['malformed_event_properties', 'malformed_event_properties'],
]);

/**
 * The captured events with a tally that knows of the events left out before, and tells the results of those left out
 * after: by the operator's lists, or because they are too large for the log.
 */
export function tellingResults(
  captured: CapturedEvents,
  { dropped, places, results }: JudgedBatch,
  metrics: Pick<CaptureMetrics, 'dropped'>,
): CapturedEvents {
  const tally = captured.dropped;
  for (const { place, reason, uuid, name } of dropped) {
    const shared = sharedReasons.get(reason);
    if (shared === undefined) metrics.dropped(reason, 1);
    else tally.add(shared, { index: place, uuid, event: name });
  }
  return {
    ...captured,
    dropped: {
      ...tally,
      add(reason, sample) {
        const place = places[sample.index] ?? sample.index;
        results.dropped(place, reason);
        tally.add(reason, { ...sample, index: place });
      },
    },
  };
}
