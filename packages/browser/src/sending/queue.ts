// The queue of events. It is in memory, and in records in storage that the next page can find.

import type { Core } from '../client/core.ts';
import type { CaptureResult } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { newUuid, toJson } from '../values.ts';

export interface QueuedEvent {
  /** The event as JSON, which is created once and used for both storage and the request. */
  text: string;
  /** The name of the event's record. Empty if it has no record. */
  name: string;
}

/** The events that the service has not accepted yet, oldest first. */
export interface EventQueue {
  count(): number;
  /** Adds an event. Returns undefined if the event can never be sent. */
  add(event: CaptureResult): QueuedEvent | undefined;
  /** Adds events from earlier pages, given as JSON. */
  adopt(texts: string[]): void;
  /** Creates records for events that have none. */
  keep(): void;
  first(most: number): QueuedEvent[];
  /** Takes events out of the queue for a request. Returns false if they are no longer the first ones in it. */
  take(events: QueuedEvent[]): boolean;
  /** Puts events back into the queue after a failed request. */
  putBack(events: QueuedEvent[]): void;
  /** Removes events that the service has accepted or will never accept. */
  forget(events: QueuedEvent[]): void;
  /** Releases the records for other pages, because this page is being left. Returns the queued events. */
  leave(): QueuedEvent[];
}

/** These limits make the library use little of the site's storage, and keep requests small enough for the service. */
const maxEvents = 500;
const maxCharacters = 1_000_000;
/** Matches the property with which an event reports how many events were dropped. */
const dropCount = /"\$lib_dropped_events":(\d+)/;

/** Creates a queue. @param mayKeep returns false while no records may be created */
export function createEventQueue(records: EventRecords, log: Core['log'], mayKeep: () => boolean): EventQueue {
  let events: QueuedEvent[] = [];
  let inRequests = 0;
  /**
   * Number of events dropped since the last event that reported a number. The next event reports them, either on this
   * page or, through a record, on a later one.
   */
  let dropped = 0;
  let droppedName = '';

  const keep = (text: string) => (mayKeep() ? records.keep(text) : '');
  const hold = () => records.hold(events.length + inRequests + dropped > 0);
  const keepDropped = () => {
    if (dropped > 0) droppedName ||= keep(toJson({ dropped }));
  };
  const setDropped = (count: number) => {
    if (count === dropped) return;
    dropped = count;
    if (droppedName) records.remove(droppedName);
    droppedName = '';
    keepDropped();
    if (count) log.debug(`${count} events dropped`);
  };
  /**
   * Makes room for one more event.
   * @returns the number of dropped events, plus the number of earlier dropped events that these would have reported
   */
  const makeRoom = (text = ''): number => {
    // `reduce` is not used, because old frameworks replace it.
    let total = text.length;
    for (const one of events) total += one.text.length;
    const most = text ? maxEvents - 1 : maxEvents;
    let count = 0;
    for (const one of [...events]) {
      if (total <= maxCharacters && events.length <= most) break;
      events.shift();
      records.remove(one.name);
      total -= one.text.length;
      count += 1 + Number(dropCount.exec(one.text)?.[1] ?? 0);
    }
    return count;
  };
  return {
    count: () => events.length,
    add(event) {
      const json = attempt(() => toJson(event));
      if (json === undefined || json.length > maxCharacters) {
        setDropped(dropped + 1);
        hold();
        return undefined;
      }
      const unreported = dropped + makeRoom(json);
      const text = unreported ? withDropCount(json, unreported) : json;
      const queued = { text, name: keep(text) };
      events.push(queued);
      setDropped(0);
      hold();
      return queued;
    },
    adopt(texts) {
      let unreported = dropped;
      const whole: QueuedEvent[] = [];
      for (const text of texts) {
        const record = attempt(() => JSON.parse(text));
        // An invalid text, such as one that was cut off, would make a whole request fail.
        if (record?.event) whole.push({ text, name: keep(text) });
        else unreported += Number(record?.dropped) || 1;
      }
      events.unshift(...whole);
      setDropped(unreported + makeRoom());
      hold();
    },
    keep() {
      for (const queued of events) queued.name ||= keep(queued.text);
      keepDropped();
    },
    first: (most) => events.slice(0, most),
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
      for (const { name } of some) records.remove(name);
      hold();
    },
    leave() {
      const all = events;
      records.leave();
      events = events.filter(({ name }) => records.isOwn(name));
      if (!records.isOwn(droppedName)) {
        dropped = 0;
        droppedName = '';
      }
      return all;
    },
  };
}

function withDropCount(text: string, count: number): string {
  const event = JSON.parse(text);
  return toJson({ ...event, properties: { ...event.properties, $lib_dropped_events: count } });
}

/**
 * Events in the site's storage, one record per event, and the number of dropped events. Every page has its own prefix
 * for the names of its records, and holds a lock with that name while it has records. When the page is left or crashes,
 * the browser releases the lock. Another page that gets the lock may then adopt the records.
 */
interface EventRecords {
  /**
   * Stores a record and returns its name. The name is empty if storage is blocked or full. The event is then lost when
   * the page is left.
   */
  keep(text: string): string;
  remove(name: string): void;
  /** Returns false if another page may have adopted the record. */
  isOwn(name: string): boolean;
  /** Acquires or releases the lock that protects this page's records. */
  hold(isNeeded: boolean): void;
  /** Lets other pages adopt this page's records from now on. */
  leave(): void;
  /**
   * Adopts the records of pages that no longer exist.
   * @param take stores texts, oldest first, under this page's names
   * @param done called afterwards, when space in storage has been freed
   */
  adopt(take: (texts: string[]) => void, done: () => void): void;
}

/** Time after which other tabs see what one tab has written. */
const settleMs = 300;
/**
 * If there are no locks (without HTTPS, or in an old browser), a page cannot find out which other pages still exist. It
 * then adopts records that are older than this, because a page sends its events sooner.
 */
const orphanMs = 60_000;

export function createEventRecords({ token, store: { area } }: Pick<Core, 'token' | 'store'>): EventRecords {
  const prefix = `ph_${token}_queue_`;
  // `Math.random` is not used, because games seed it with the same value in each tab.
  const newPage = () => `${prefix}${newUuid()}_`;
  // The locks are accessed only when they are needed, because the first access takes milliseconds.
  const locks = (): LockManager | undefined => navigator.locks;
  let page = newPage();
  let last = 0;
  let release: (() => void) | undefined;

  const put = (name: string, text: string) => {
    if (!area) return '';
    area.setItem(name, text);
    return name;
  };
  const isOwn = (name: string) => name === '' || name.startsWith(page);
  const remove = (name: string) => void attempt(() => area?.removeItem(name));
  const isLeft = (name: string) =>
    name.startsWith(prefix) &&
    !isOwn(name) &&
    (locks() || Math.abs(Date.now() - Number(name.split('_').pop())) > orphanMs);
  const hold = (isNeeded: boolean) => {
    if (isNeeded === !!release) return;
    release?.();
    release = undefined;
    if (!isNeeded) return;
    const end = new Promise<void>((resolve) => {
      release = resolve;
    });
    locks()
      ?.request(page, () => end)
      .catch(() => {});
  };
  return {
    keep(text) {
      // Names contain the time, so that they sort in the order in which they were created.
      last = Math.max(last + 1, Date.now());
      const name = page + last;
      return attempt(() => put(name, text)) ?? '';
    },
    remove,
    isOwn,
    hold,
    leave() {
      hold(false);
      page = newPage();
    },
    adopt(take, done) {
      const abandoned =
        attempt(() =>
          Object.keys(area ?? {})
            .filter(isLeft)
            .sort(),
        ) ?? [];
      for (const of of new Set(abandoned.map((name) => name.slice(0, name.lastIndexOf('_') + 1)))) {
        const names = abandoned.filter((name) => name.startsWith(of));
        const run = () => {
          take(names.map((name) => attempt(() => area?.getItem(name)) ?? '').filter(Boolean));
          names.forEach(remove);
          done();
          return new Promise((resolve) => setTimeout(resolve, settleMs));
        };
        const all = locks();
        if (all) all.request(of, { ifAvailable: true }, (lock) => lock && run()).catch(() => {});
        else run();
      }
    },
  };
}
