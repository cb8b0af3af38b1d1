import type { Options } from '../client/client.ts';
import { memoryArea, storageArea, webStorage } from './areas.ts';
import { cookieArea } from './cookie-area.ts';
import { createStore, type StorePlace, type WholeStore } from './create-store.ts';

export interface Stores {
  /** Of the visitor. */
  store: WholeStore;
  /** Of the tab: the same one where that is all there is. */
  tabStore: WholeStore;
}

export function openStores(options: Options, isPersistent: () => boolean): Stores {
  const { token, persistence_name: given } = options;
  const own = token.replace(/\+/g, 'PL').replace(/\//g, 'SL').replace(/=/g, 'EQ');
  const name = given ? `ph_${given}` : `ph_${own}_posthog`;
  const kind = options.disable_persistence ? 'memory' : options.persistence;
  const doesCookieWin = options.defaults !== 'unset' && options.defaults >= '2026-08-29';
  const store = createStore({ name, isPersistent, doesCookieWin, ...placeOf(kind, options) });
  const isOfTab = kind === 'memory' || kind === 'sessionStorage';
  const tabStore = isOfTab ? store : createStore({ name, isPersistent, ...placeOf('sessionStorage', options) });
  return { store, tabStore };
}

/** Where the place is blocked, the next best: cookies, then memory. */
function placeOf(kind: Options['persistence'], options: Options): Pick<StorePlace, 'main' | 'cookies' | 'area'> {
  if (kind === 'memory') return { main: memoryArea(), area: null };
  if (kind === 'sessionStorage') {
    const session = webStorage('sessionStorage');
    return { main: session ? storageArea(session) : memoryArea(), area: session ?? null };
  }
  const local = webStorage('localStorage');
  const cookies = kind === 'localStorage' ? undefined : cookieArea(options);
  const area = local ?? null;
  if (local && kind !== 'cookie') return { main: storageArea(local), cookies, area };
  return { main: cookies ?? memoryArea(), area };
}
