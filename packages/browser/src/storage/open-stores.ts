import type { Options } from '../client/client.ts';
import { type Area, doesKeep, memoryArea, storageArea, tabArea, webStorage } from './areas.ts';
import { cookieArea } from './cookie-area.ts';
import { createStore, type WholeStore } from './create-store.ts';

export interface Stores {
  /** Of the visitor. */
  store: WholeStore;
  /** Of the tab. */
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
