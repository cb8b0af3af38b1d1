// What is remembered of a visitor and of a tab, in the places that the options and consent allow.

import type { Options } from '../client/client.ts';
import type { Store } from '../client/core.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { memoizeLast, toJson, toPlain } from '../values.ts';
import { type Area, cookieArea, doesKeep, memoryArea, storageArea, tabArea, webStorage } from './areas.ts';

export interface Stores {
  /** What is kept for the visitor. */
  store: WholeStore;
  /** What is kept for the tab. */
  tabStore: WholeStore;
}

/** Where the place an application chose is blocked, the next best: cookies, then memory. */
export function openStores(options: Options, isPersistent: () => boolean): Stores {
  const { token, persistence_name: given, defaults, disable_persistence } = options;
  const kind = disable_persistence ? 'memory' : options.persistence;
  const own = token.replace(/\+/g, 'PL').replace(/\//g, 'SL').replace(/=/g, 'EQ');
  const name = given ? `ph_${given}` : `ph_${own}_posthog`;
  const local = kind === 'memory' ? null : webStorage('localStorage');
  const cookies = kind === 'cookie' || kind === 'localStorage+cookie' ? cookieArea(options) : undefined;
  const doesCookieWin = defaults !== 'unset' && defaults >= '2026-08-29';
  const area = kind === 'sessionStorage' ? webStorage(kind) : local;
  const storeIn = (main: Area, more?: object) => createStore({ name, main, isPersistent, area, ...more });

  const tabStore = storeIn(tabArea(kind));
  if (kind === 'sessionStorage') return { store: tabStore, tabStore };
  if (local && kind !== 'cookie') return { store: storeIn(storageArea(local), { cookies, doesCookieWin }), tabStore };
  return { store: storeIn(cookies && doesKeep(cookies) ? cookies : memoryArea()), tabStore };
}

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

/** For the core only: what other features need not know. */
export interface WholeStore extends Store {
  readonly name: string;
  clear(): void;
  /** Writes what is known, or removes what was written, as consent now asks. */
  followConsent(): void;
}

/** One JSON text per place, written whole and read again before each change: other tabs write it too. */
function createStore({ name, main, cookies, doesCookieWin, area, isPersistent }: StorePlace): WholeStore {
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

/** Kept in cookies too, so that they outlive a cleared localStorage and are shared by subdomains. */
const cookieNames =
  /^(distinct_id|\$(device_id|sesid|session_is_sampled|epp|initial_person_info|fbc_persistence|user_state))$/;

/** What is remembered for the library, by this one or by PostHog's, whose store it is: sent with no event. */
const hidden =
  /^(__|ph_product|\$(active_feature|capture_rate|client_session|early_access|enabled_feature|epp|error_tracking_supp|fb[cp]_p|feature_flag|flag_call|heatmaps|initial_|logs_capture|minimal_flag|override|people_|posthog_sr|product_tours|sdk_debug|ses|stored_|surveys|user_state))/;

function isSentWithEvents(name: string): boolean {
  return !hidden.test(name);
}
