// Stores data about a visitor and a tab. The options and the visitor's consent determine the storage.

import type { Options } from '../client/client.ts';
import type { Store } from '../client/core.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import { memoizeLast, toJson, toJsonValue } from '../values.ts';
import {
  canStore,
  createCookieStorage,
  createMemoryStorage,
  createTabStorage,
  openWebStorage,
  type TextStorage,
  toTextStorage,
} from './text-storage.ts';

export interface Stores {
  store: WholeStore;
  tabStore: WholeStore;
}

/** Opens the stores. If the chosen storage is blocked, uses cookies. If cookies are blocked too, uses memory. */
export function openStores(options: Options, isPersistent: () => boolean): Stores {
  const { token, persistence_name: given, defaults, disable_persistence } = options;
  const kind = disable_persistence ? 'memory' : options.persistence;
  const own = token.replace(/\+/g, 'PL').replace(/\//g, 'SL').replace(/=/g, 'EQ');
  const name = given ? `ph_${given}` : `ph_${own}_posthog`;
  const local = kind === 'memory' ? null : openWebStorage('localStorage');
  const cookies = kind === 'cookie' || kind === 'localStorage+cookie' ? createCookieStorage(options) : undefined;
  const doesCookieWin = defaults !== 'unset' && defaults >= '2026-08-29';
  const area = kind === 'sessionStorage' ? openWebStorage(kind) : local;
  const storeIn = (main: TextStorage, more?: object) => createStore({ name, main, isPersistent, area, ...more });

  const tabStore = storeIn(createTabStorage(kind));
  if (kind === 'sessionStorage') return { store: tabStore, tabStore };
  if (local && kind !== 'cookie') return { store: storeIn(toTextStorage(local), { cookies, doesCookieWin }), tabStore };
  return { store: storeIn(cookies && canStore(cookies) ? cookies : createMemoryStorage()), tabStore };
}

interface StorePlace {
  name: string;
  main: TextStorage;
  /** Storage for the names that are stored in both cookies and `main`. */
  cookies?: TextStorage | undefined;
  doesCookieWin?: boolean;
  area: Storage | null;
  /** Returns false if nothing may be stored, because the visitor has not consented. */
  isPersistent(): boolean;
}

/** The complete interface of a store. Only the core uses it. */
export interface WholeStore extends Store {
  readonly name: string;
  clear(): void;
  /** Writes the known values or deletes the stored values, depending on the current consent. */
  followConsent(): void;
}

/**
 * Creates a store that writes one JSON string per storage. Before each change, reads the string again, because other
 * tabs also write it.
 */
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
  /** Read at most once per task, because other tabs cannot write during a task. */
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
    // If the write failed, the values are only in memory.
    knownText = main.read(name);
    // Skip unchanged cookies, because writing cookies is slow.
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
      const plain = isObject(changes) ? (Object(toJsonValue(changes)) as Properties) : {};
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

/**
 * Names of values that are also stored in cookies. Cookies remain after localStorage is cleared, and are shared by
 * subdomains.
 */
const cookieNames =
  /^(distinct_id|\$(device_id|sesid|session_is_sampled|epp|initial_person_info|fbc_persistence|user_state))$/;

/** Names that this library or PostHog's library stores for internal use. Events do not include them. */
const hidden =
  /^(__|ph_product|\$(active_feature|capture_rate|client_session|early_access|enabled_feature|epp|error_tracking_supp|fb[cp]_p|feature_flag|flag_call|heatmaps|initial_|logs_capture|minimal_flag|override|people_|posthog_sr|product_tours|sdk_debug|ses|stored_|surveys|user_state))/;

function isSentWithEvents(name: string): boolean {
  return !hidden.test(name);
}
