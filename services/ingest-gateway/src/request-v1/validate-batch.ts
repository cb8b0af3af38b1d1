import type { ClientEvent } from '../event/capture-schema.ts';
import { type DropSample, maxSamples } from '../event/drop-tally.ts';
import type { V1Batch, V1Sent } from './parse-v1-batch.ts';
import { readV1Event, type V1DropReason } from './read-v1-event.ts';
import type { V1Head } from './v1-head.ts';

/** A batch after every event was validated by itself. */
export interface ValidatedBatch {
  isHistorical: boolean;
  /** Of every event, as the client wrote it. */
  uuids: string[];
  /** The events that go on. */
  events: ClientEvent[];
  /** For each of them its index in the batch. */
  indexes: number[];
  drops: V1Drop[];
}

/** The events left out for one reason. */
export interface V1Drop {
  reason: V1DropReason;
  /** Their indexes in the batch. */
  indexes: number[];
  /** Of the first of them, as many as are told. */
  samples: DropSample[];
}

/** Separates the events that can be stored from those that cannot. */
export function validateBatch(batch: V1Batch, sdk: V1Head['sdk']): ValidatedBatch {
  const { isHistorical, events } = batch;
  const validated: ValidatedBatch = { isHistorical, uuids: [], events: [], indexes: [], drops: [] };
  const drops = new Map<V1DropReason, V1Drop>();
  for (const [index, sent] of events.entries()) {
    validated.uuids.push(sent.uuid);
    const reading = readV1Event(sent, sdk);
    if (reading.outcome === 'event') {
      validated.events.push(reading.event);
      validated.indexes.push(index);
      continue;
    }
    const { reason } = reading;
    const drop = drops.get(reason) ?? { reason, indexes: [], samples: [] };
    drops.set(reason, drop);
    drop.indexes.push(index);
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(sent, index, reason));
  }
  return { ...validated, drops: [...drops.values()] };
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
