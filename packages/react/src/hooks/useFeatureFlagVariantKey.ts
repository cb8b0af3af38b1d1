import type { FlagKey, FlagValue, ValueOf } from '@millrace/browser';
import type { FlagView } from './flag-store.ts';
import { useFlag } from './useFlag.ts';

const view: FlagView<FlagValue> = {
  fromClient: (client, flag, quiet) => client.getFeatureFlag(flag, ...(quiet ? [quiet] : [])),
  part: 'featureFlags',
  fromBootstrap: ({ featureFlags }, flag) => featureFlags?.[flag],
};

/** The variant this person gets, `true` or `false` for a flag without variants; undefined while it is unknown. */
export function useFeatureFlagVariantKey<Key extends FlagKey>(flag: Key): ValueOf<Key> | undefined {
  return useFlag(view, flag) as ValueOf<Key> | undefined;
}
