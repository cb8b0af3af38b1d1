import type { FlagKey, FlagResult } from '@millrace/browser';
import type { FlagView } from './flag-store.ts';
import { useFlag } from './useFlag.ts';

const view: FlagView<FlagResult> = {
  fromClient: (client, flag, quiet) => client.getFeatureFlagResult(flag, ...(quiet ? [quiet] : [])),
  part: 'featureFlags',
  fromBootstrap({ featureFlags, featureFlagPayloads }, flag) {
    const value = featureFlags?.[flag];
    if (value === undefined) return undefined;
    return {
      key: flag,
      enabled: Boolean(value),
      variant: typeof value === 'string' ? value : undefined,
      payload: featureFlagPayloads?.[flag],
    };
  },
};

/** Value, variant and payload of a flag at once; undefined while it is unknown. */
export function useFeatureFlagResult(flag: FlagKey): FlagResult | undefined {
  return useFlag(view, flag);
}
