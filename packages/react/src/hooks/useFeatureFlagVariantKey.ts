import type { FlagKey, FlagValue, ValueOf } from '@millrace/browser';
import { describeFlag } from './describe-flag.ts';
import { useFlagStore } from './useFlagStore.ts';

const variantKey = /* @__PURE__ */ describeFlag<FlagValue>({
  fromClient: (client, ...reading) => client.getFeatureFlag(...reading),
  fromResult: (result) => result.variant ?? result.enabled,
});

/** The variant this person gets, `true` or `false` for a flag without variants; undefined while it is unknown. */
export function useFeatureFlagVariantKey<Key extends FlagKey>(flag: Key): ValueOf<Key> | undefined {
  return useFlagStore(variantKey, flag) as ValueOf<Key> | undefined;
}
