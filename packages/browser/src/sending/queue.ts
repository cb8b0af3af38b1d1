// The events that wait: in memory, and as records in storage that the next page finds.

import type { Core } from '../client/core.ts';
import type { CaptureResult } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { newUuid, toJson } from '../values.ts';

export interface QueuedEvent {
  /** JSON, made once: for storage and for the request. */
  text: string;
  /** Of its record; empty where there is none. */
  name: string;
}

/** The events that the service has not taken yet, oldest first. */
export interface EventQueue {
  count(): number;
  /** Undefined: it can never be sent. */
  add(event: CaptureResult): QueuedEvent | undefined;
  /** Texts of events that were queued before. */
  adopt(texts: string[]): void;
  /** Makes records of those that have none. */
  keep(): void;
  first(most: number): QueuedEvent[];
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
  /** Since the last event that told of them: the next one does, of this page or, by a record, of a later one. */
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
  /** For one more. @returns how many are dropped; one of them may have been the one to tell of others. */
  const makeRoom = (text = ''): number => {
    // Not by `reduce`, which old frameworks have exchanged for another.
    let total = text.length;
    for (const one of events) total += one.text.length;
    const most = text ? mostEvents - 1 : mostEvents;
    let count = 0;
    for (const one of [...events]) {
      if (total <= mostCharacters && events.length <= most) break;
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
      if (json === undefined || json.length > mostCharacters) {
        setDropped(dropped + 1);
        hold();
        return undefined;
      }
      const untold = dropped + makeRoom(json);
      const text = untold ? withDropCount(json, untold) : json;
      const queued = { text, name: keep(text) };
      events.push(queued);
      setDropped(0);
      hold();
      return queued;
    },
    adopt(texts) {
      let untold = dropped;
      const whole: QueuedEvent[] = [];
      for (const text of texts) {
        const record = attempt(() => JSON.parse(text));
        // One that is none, as half a text, would spoil a whole request.
        if (record?.event) whole.push({ text, name: keep(text) });
        else untold += Number(record?.dropped) || 1;
      }
      events.unshift(...whole);
      setDropped(untold + makeRoom());
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
 * Events in the site's storage, one record each, and the number of those that were dropped. Every page writes under names of its own, and holds a lock of that name
 * while it has any: who gets the lock, since the page left or crashed, may adopt them.
 */
interface EventRecords {
  /** Gives the record's name; empty where storage is blocked or full: the event then lives as long as the page. */
  keep(text: string): string;
  remove(name: string): void;
  /** False: another page may have adopted it. */
  isOwn(name: string): boolean;
  /** That nobody adopts what is there; again and again while there is something. */
  hold(isNeeded: boolean): void;
  /** From now on all is for whoever comes first. */
  leave(): void;
  /**
   * Takes over what pages left that are gone.
   * @param take keeps texts, oldest first, under names of this page.
   * @param done afterwards, when there is room in storage again.
   */
  adopt(take: (texts: string[]) => void, done: () => void): void;
}

/** Until what one tab has written is seen by the others. */
const settleMs = 300;
/** Without locks (no https, an old browser) nobody knows who lives, but pages send what they have sooner. */
const orphanMs = 60_000;

export function createEventRecords({ token, store: { area } }: Pick<Core, 'token' | 'store'>): EventRecords {
  const prefix = `ph_${token}_queue_`;
  // Not by `Math.random`, which games make begin again in each tab.
  const newPage = () => `${prefix}${newUuid()}_`;
  // Asked for when there is something to lock: the first time, it takes milliseconds.
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
      // Names tell the time, and sort as they were made.
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
      const left =
        attempt(() =>
          Object.keys(area ?? {})
            .filter(isLeft)
            .sort(),
        ) ?? [];
      for (const of of new Set(left.map((name) => name.slice(0, name.lastIndexOf('_') + 1)))) {
        const names = left.filter((name) => name.startsWith(of));
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
