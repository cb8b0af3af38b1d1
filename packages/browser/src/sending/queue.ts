// The event queue. Events are in memory, and in storage records that a later page can find.

import type { Core } from '../client/core.ts';
import type { CaptureResult } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { newUuid, toJson } from '../values.ts';

export interface QueuedEvent {
  /** The event as JSON. It is created once, for both storage and the request. */
  text: string;
  /** Name of the event's storage record. Empty if the event is not in storage. */
  name: string;
}

/** The events that the service has not accepted yet, oldest first. */
export interface EventQueue {
  count(): number;
  /** Adds an event to the queue. Returns undefined if the event is too large to ever be sent. */
  add(event: CaptureResult): QueuedEvent | undefined;
  /** Adds JSON-encoded events from earlier pages to the queue. */
  adopt(texts: string[]): void;
  /** Stores the events that have no storage record yet. */
  keep(): void;
  first(most: number): QueuedEvent[];
  /** Removes events from the queue before a request. Returns false if they are no longer at the front of the queue. */
  take(events: QueuedEvent[]): boolean;
  /** Puts events back into the queue after a failed request. */
  putBack(events: QueuedEvent[]): void;
  /** Removes events that the service has accepted or will never accept. */
  forget(events: QueuedEvent[]): void;
  /** Releases the storage records to other pages when the visitor leaves this page. Returns the queued events. */
  leave(): QueuedEvent[];
}

/** Limits that restrict the use of the site's storage, and keep requests small enough for the service. */
const maxEvents = 500;
const maxCharacters = 1_000_000;
const dropCount = /"\$lib_dropped_events":(\d+)/;

/** Creates a queue. @param mayKeep a function that returns false while events must not be stored */
export function createEventQueue(records: EventRecords, log: Core['log'], mayKeep: () => boolean): EventQueue {
  let events: QueuedEvent[] = [];
  let inRequests = 0;
  /**
   * Number of dropped events that no event has reported yet. The next event reports the number, on this page or, if the
   * event is stored, on a later page.
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
   * @returns the number of dropped events, including the drop counts that the removed events would have reported
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
        // A truncated or otherwise invalid record would make the entire request fail.
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
 * Events in the site's storage, one record per event, and the number of dropped events. Each page has its own prefix
 * for record names, and holds a lock of that name while it has records. When the visitor leaves the page or it crashes,
 * the browser releases the lock. Another page that acquires the lock may then adopt the records.
 */
interface EventRecords {
  /**
   * Stores a record and returns its name. If storage is blocked or full, returns an empty name. The event is then lost
   * when the visitor leaves the page.
   */
  keep(text: string): string;
  remove(name: string): void;
  /** Returns false if another page may have adopted the record. */
  isOwn(name: string): boolean;
  /** Acquires or releases the lock that protects this page's records. */
  hold(isNeeded: boolean): void;
  /** Allows other pages to adopt this page's records from now on. */
  leave(): void;
  /**
   * Adopts the records of closed pages.
   * @param take a function that stores serialized events, oldest first, under this page's record names
   * @param done a function that is called after the adopted records have been deleted, which frees storage
   */
  adopt(take: (texts: string[]) => void, done: () => void): void;
}

/** Time after which other tabs can read what a tab has written to storage. */
const settleMs = 300;
/**
 * The age at which a page adopts another page's records if the browser has no Locks API (without HTTPS, or in an old
 * browser). The page then cannot detect which other pages are open. An open page sends its events before they reach
 * this age.
 */
const orphanMs = 60_000;

export function createEventRecords({ token, store: { area } }: Pick<Core, 'token' | 'store'>): EventRecords {
  const prefix = `ph_${token}_queue_`;
  // `Math.random` is not used, because some games seed it with the same value in each tab.
  const newPage = () => `${prefix}${newUuid()}_`;
  // The Locks API is accessed only when needed, because the first access takes milliseconds.
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
      // Record names contain the time, so that sorting them yields the order of creation.
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
