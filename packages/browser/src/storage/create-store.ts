import type { Store } from '../client/core.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { memoizeLast } from '../values/memoize-last.ts';
import { toJson } from '../values/to-json.ts';
import { toPlain } from '../values/to-plain.ts';
import type { Area } from './areas.ts';
import { cookieNames, isSentWithEvents } from './own-names.ts';

interface StorePlace {
  name: string;
  main: Area;
  /** Beside `main`, for the names that are kept in both. */
  cookies?: Area | undefined;
  doesCookieWin?: boolean;
  area: Storage | null;
  /** False: nothing leaves memory, for consent is missing. */
  isPersistent(): boolean;
}

/** Of the core only: what all other parts need not know. */
export interface WholeStore extends Store {
  readonly name: string;
  clear(): void;
  /** Writes what is known, or removes what was written, as consent now asks. */
  followConsent(): void;
}

/** One JSON text per place, written whole and read again before each change: other tabs write it too. */
export function createStore({ name, main, cookies, doesCookieWin, area, isPersistent }: StorePlace): WholeStore {
  let values: Properties = {};
  let knownText: string | null = null;
  let writtenCookie = '';
  let isFresh = false;
  const sentOf = memoizeLast((all: Properties) => without(all, (one) => !isSentWithEvents(one)));

  const readAgain = () => {
    if (!isPersistent()) return;
    const text = main.read(name);
    if (text === null || text === knownText) return;
    knownText = text;
    values = parse(text);
  };
  /** Once per task is enough: nobody else writes meanwhile. */
  const refresh = (): Properties => {
    if (isFresh) return values;
    isFresh = true;
    queueMicrotask(() => {
      isFresh = false;
    });
    readAgain();
    return values;
  };
  const save = () => {
    if (!isPersistent()) return;
    main.write(name, toJson(values));
    // What could not be written is not there; then memory is what counts.
    knownText = main.read(name);
    // Browsers take their time for cookies; those that are as they were need not be written.
    const shared = toJson(without(values, (one) => !cookieNames.test(one) || isEmpty(values[one])));
    if (shared !== writtenCookie) cookies?.write(name, shared);
    writtenCookie = shared;
  };
  const erase = () => {
    knownText = null;
    writtenCookie = '';
    main.remove(name);
    cookies?.remove(name);
  };

  readAgain();
  const fromCookie = parse(cookies?.read(name) ?? null);
  values = doesCookieWin ? { ...values, ...fromCookie } : { ...fromCookie, ...values };

  return {
    name,
    area,
    get: (wanted) => refresh()[wanted],
    set(changes) {
      readAgain();
      const plain = isObject(changes) ? (Object(toPlain(changes)) as Properties) : {};
      if (!Object.keys(plain).some((one) => JSON.stringify(values[one]) !== JSON.stringify(plain[one]))) return;
      values = { ...values, ...plain };
      save();
    },
    remove(...names) {
      readAgain();
      if (!names.some((one) => one in values)) return;
      values = without(values, (one) => names.includes(one));
      save();
    },
    superProperties: () => sentOf(refresh()),
    clear() {
      values = {};
      erase();
    },
    followConsent: () => (isPersistent() ? save() : erase()),
  };
}

function parse(text: string | null): Properties {
  const value: unknown = attempt(() => JSON.parse(text || '{}'));
  return isObject(value) ? (value as Properties) : {};
}

function without(values: Properties, isOut: (name: string) => boolean): Properties {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !isOut(name)));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: JsonValue): boolean {
  return value === undefined || value === null || value === '';
}
