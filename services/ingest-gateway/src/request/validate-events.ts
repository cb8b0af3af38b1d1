import { toCanonicalUuid } from '../event/canonical-uuid.ts';
import { type ClientEvent, isClientUuid } from '../event/capture-schema.ts';
import { type DropSample, maxSamples } from '../event/drop-tally.ts';
import { type EventFault, findFault } from '../event/event-fault.ts';

/** The events of a request after each was validated by itself. */
export interface ValidatedEvents {
  /** Those that can be used, in their order. */
  usable: ClientEvent[];
  /** For each of them its index in the request; undefined when it is the same. */
  indexes: Int32Array<ArrayBuffer> | undefined;
  drops: EventDrop[];
  firstFault: { index: number; fault: EventFault } | null;
}

/** The events left out for one cause. */
export interface EventDrop {
  cause: EventFault['cause'];
  count: number;
  /** Of the first of them, as many as are told. */
  samples: DropSample[];
}

const noDrops: EventDrop[] = [];

/**
 * Separates the events that can be used from those with a fault.
 *
 * @param isShallow true when none can be nested too deep.
 */
export function validateEvents(events: readonly unknown[], isShallow: boolean): ValidatedEvents {
  let firstFault: ValidatedEvents['firstFault'] = null;
  for (let index = 0; index < events.length && firstFault === null; index++) {
    const fault = findFault(events[index], isShallow);
    if (fault !== null) firstFault = { index, fault };
  }
  if (firstFault === null) return { usable: events as ClientEvent[], indexes: undefined, drops: noDrops, firstFault };
  const usable: ClientEvent[] = [];
  const indexes = new Int32Array(events.length);
  const drops = new Map<EventFault['cause'], EventDrop>();
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    const fault = findFault(event, isShallow);
    if (fault === null) {
      indexes[usable.length] = index;
      usable.push(event as ClientEvent);
      continue;
    }
    const { cause } = fault;
    const drop = drops.get(cause) ?? { cause, count: 0, samples: [] };
    drops.set(cause, drop);
    drop.count += 1;
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(event, index, fault));
  }
  return { usable, indexes: indexes.slice(0, usable.length), drops: [...drops.values()], firstFault };
}

/** What may be reported about an event that is too deep to be walked through. */
function sampleOf(event: unknown, index: number, { path, reason }: EventFault): DropSample {
  const { event: name, uuid } = (event ?? {}) as Record<string, unknown>;
  return {
    index,
    uuid: isClientUuid(uuid) && uuid !== '' ? toCanonicalUuid(uuid) : null,
    event: typeof name === 'string' ? name : null,
    field: path.join('.') || null,
    reason,
  };
}
