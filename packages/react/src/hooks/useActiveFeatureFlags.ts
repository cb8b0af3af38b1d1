import type { Bootstrap, FlagValue } from '@millrace/browser';
import { useContext, useMemo, useSyncExternalStore } from 'react';
import { PostHogContext } from '../context/PostHogContext.ts';
import type { PostHog } from '../context/posthog.ts';
import { isDeepEqual } from '../utils/object-utils.ts';
import type { FlagStore } from './flag-store.ts';

const none: string[] = [];

/** The keys of all flags that are on for this person. */
export function useActiveFeatureFlags(): string[] {
  const { client, bootstrap } = useContext(PostHogContext);
  const store = useMemo(() => createActiveFlagsStore(client, bootstrap), [client, bootstrap]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot) ?? none;
}

function createActiveFlagsStore(client: PostHog | undefined, bootstrap: Bootstrap | undefined): FlagStore<string[]> {
  const bootstrapped = bootstrap?.featureFlags && keysOn(bootstrap.featureFlags);
  let announced: string[] | undefined;
  let last: string[] | undefined;

  function read(): string[] | undefined {
    const flags = client?.featureFlags;
    if (bootstrapped && !flags?.hasLoadedFlags) return bootstrapped;
    if (announced) return announced;
    const variants = flags?.getFlagVariants?.();
    return variants ? keysOn(variants) : flags?.getFlags?.();
  }

  return {
    subscribe(changed) {
      if (!client) return () => {};
      return client.onFeatureFlags((active) => {
        announced = active;
        changed();
      });
    },
    getSnapshot() {
      const next = read();
      if (!isDeepEqual(last, next)) last = next;
      return last;
    },
    getServerSnapshot: () => (bootstrapped || typeof window !== 'undefined' ? bootstrapped : read()),
  };
}

function keysOn(values: Record<string, FlagValue>): string[] {
  return Object.keys(values).filter((key) => values[key]);
}
