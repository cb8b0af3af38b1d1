import { useContext, useMemo, useSyncExternalStore } from 'react';
import { PostHogContext } from '../context/PostHogContext.ts';
import { createFlagStore, type FlagView } from './flag-store.ts';

/** A flag as `view` shows it. Renders again only when that has changed. */
export function useFlag<Value>(view: FlagView<Value>, flag: string): Value | undefined {
  const { client, bootstrap } = useContext(PostHogContext);
  const store = useMemo(() => createFlagStore({ client, bootstrap }, flag, view), [client, bootstrap, flag, view]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot);
}
