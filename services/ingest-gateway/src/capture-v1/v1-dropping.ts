import type { ClientEvent } from '../capture/capture-schema.ts';
import type { DropSample } from '../capture/drop-tally.ts';
import type { CapturedEvents } from '../capture/to-captured-events.ts';
import type { V1Batch, V1Sent } from './parse-v1-batch.ts';
import { readV1Event, type V1DropReason } from './read-v1-event.ts';
import type { V1Head } from './v1-head.ts';
import { createV1Results, type V1Results } from './v1-results.ts';

/** A batch after every event was looked at for itself. */
export interface JudgedBatch {
  /** The events that go on. */
  events: ClientEvent[];
  /** For each of them its place in the batch. */
  places: number[];
  dropped: { reason: V1DropReason; sample: DropSample }[];
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
    judged.dropped.push({ reason, sample: sampleOf(sent, place, reason) });
    results.dropped(place, reason);
  }
  return judged;
}

function sampleOf({ uuid, fields }: V1Sent, index: number, reason: V1DropReason): DropSample {
  const { event, timestamp } = fields ?? {};
  return {
    index,
    uuid,
    event: typeof event === 'string' ? event : null,
    ...(reason === 'invalid_event_timestamp' ? { timestamp: typeof timestamp === 'string' ? timestamp : null } : {}),
  };
}

/**
 * The captured events with a tally that knows of the events left out before, and tells the results of those left out
 * after: by the operator's lists, or because they are too large for the log.
 */
export function tellingResults(captured: CapturedEvents, { dropped, places, results }: JudgedBatch): CapturedEvents {
  const tally = captured.dropped;
  for (const { reason, sample } of dropped) tally.add(reason, sample);
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
