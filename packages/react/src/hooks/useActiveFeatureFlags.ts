import type { Bootstrap, FlagValue } from '@millrace/browser';
import type { FlagSource } from './flag-store.ts';
import { useFlagStore } from './useFlagStore.ts';

const none: string[] = [];

/** The keys of all flags that are on for this person. */
export function useActiveFeatureFlags(): string[] {
  return useFlagStore(activeFlags) ?? none;
}

function activeFlags(bootstrap: Bootstrap | undefined): Omit<FlagSource<string[]>, 'client'> {
  const given = bootstrap?.featureFlags;
  let announced: string[] | undefined;
  return {
    bootstrapped: given && { value: keysOn(given) },
    read({ featureFlags }) {
      if (announced) return announced;
      const values = featureFlags.getFlagVariants?.();
      return values ? keysOn(values) : featureFlags.getFlags();
    },
    seen(_, active) {
      announced = active;
    },
  };
}

function keysOn(values: Record<string, FlagValue>): string[] {
  return Object.keys(values).filter((key) => values[key]);
}
