import type { CaptureResult } from '../client/captured-event.ts';
import type { Core } from '../client/core.ts';
import type { EventRecords } from './event-records.ts';

export interface QueuedEvent {
  /** JSON, made once: for storage and for the request. */
  text: string;
  /** Of its record; empty where there is none. */
  name: string;
}

/** The events that the service has not taken yet, oldest first. */
export interface EventQueue {
  count(): number;
  /** Undefined, or throws: it can never be sent. */
  add(event: CaptureResult): QueuedEvent | undefined;
  /** Texts of events that were queued before. */
  adopt(texts: string[]): void;
  /** Makes records of those that have none. */
  keep(): void;
  first(most: number, characters?: number): QueuedEvent[];
  /** They go into a request now. False: they are not the first any more. */
  take(events: QueuedEvent[]): boolean;
  /** The request came to nothing. */
  putBack(events: QueuedEvent[]): void;
  /** The service has taken them, or never will. */
  forget(events: QueuedEvent[]): void;
  /** The page goes: the records are for whoever comes first. Gives what was there. */
  leave(): QueuedEvent[];
}

/** A site's storage is for the site. No request is larger either, which the service would take. */
const mostEvents = 500;
const mostCharacters = 1_000_000;
/** In an event: how many had to make room. */
const dropCount = /"\$lib_dropped_events":(\d+)/;

/** @param mayKeep false while there may be no records. */
export function createEventQueue(records: EventRecords, log: Core['log'], mayKeep: () => boolean): EventQueue {
  let events: QueuedEvent[] = [];
  let inRequests = 0;
  let dropped = 0;

  const keep = (text: string) => (mayKeep() ? records.keep(text) : '');
  const hold = () => records.hold(events.length + inRequests > 0);
  const forget = (some: QueuedEvent[]) => {
    for (const { name } of some) records.remove(name);
  };
  /** An event that is dropped may have been the one to tell of others. */
  const makeRoom = (characters: number) => {
    const lost = events.splice(0, events.length - countFitting(events, characters));
    forget(lost);
    for (const { text } of lost) dropped += 1 + Number(dropCount.exec(text)?.[1] ?? 0);
    if (lost.length > 0) log.debug(`${dropped} events dropped: too many wait to be sent`);
  };
  return {
    count: () => events.length,
    add(event) {
      // Until it is queued, for it may be no JSON.
      dropped += 1;
      let text = JSON.stringify(event);
      if (text.length > mostCharacters) return undefined;
      dropped -= 1;
      makeRoom(text.length);
      if (dropped > 0)
        text = JSON.stringify({ ...event, properties: { ...event.properties, $lib_dropped_events: dropped } });
      dropped = 0;
      const queued = { text, name: keep(text) };
      events.push(queued);
      hold();
      return queued;
    },
    adopt(texts) {
      events.unshift(...texts.map((text) => ({ text, name: keep(text) })));
      makeRoom(0);
      hold();
    },
    keep() {
      for (const queued of events) queued.name ||= keep(queued.text);
    },
    first(most, characters = mostCharacters) {
      let left = characters;
      return events.slice(0, most).filter(({ text }, at) => {
        left -= text.length;
        return at === 0 || left >= 0;
      });
    },
    take(some) {
      const isFirst = some.every((one, at) => one === events[at]);
      if (isFirst) inRequests += events.splice(0, some.length).length;
      return isFirst;
    },
    putBack(some) {
      inRequests -= some.length;
      events.unshift(...some.filter(({ name }) => records.isOwn(name)));
    },
    forget(some) {
      inRequests -= some.length;
      forget(some);
      hold();
    },
    leave() {
      const all = events;
      records.leave();
      events = events.filter(({ name }) => records.isOwn(name));
      return all;
    },
  };
}

/** How many of the last ones may stay, beside a new one. */
function countFitting(events: QueuedEvent[], characters: number): number {
  let total = characters;
  let count = 0;
  for (const { text } of [...events].reverse()) {
    total += text.length;
    if (total > mostCharacters || count === mostEvents - 1) break;
    count += 1;
  }
  return count;
}
