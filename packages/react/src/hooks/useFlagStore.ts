import type { Bootstrap } from '@millrace/browser';
import { useContext, useMemo, useSyncExternalStore } from 'react';
import { PostHogContext } from '../context/PostHogContext.ts';
import { createFlagStore, type FlagSource } from './flag-store.ts';

/** What `describe` says of flags, or of the one that is given. Renders again only when that has changed. */
export function useFlagStore<Value>(
  describe: (bootstrap: Bootstrap | undefined, flag: string) => Omit<FlagSource<Value>, 'client'>,
  flag = '',
): Value | undefined {
  const { client, bootstrap } = useContext(PostHogContext);
  const store = useMemo(
    () => createFlagStore({ client, ...describe(bootstrap, flag) }),
    [client, bootstrap, flag, describe],
  );
  return useSyncExternalStore(...store);
}
