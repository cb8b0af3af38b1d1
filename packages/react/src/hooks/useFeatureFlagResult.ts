import type { FlagKey, FlagResult } from '@millrace/browser';
import { describeFlag } from './describe-flag.ts';
import { useFlagStore } from './useFlagStore.ts';

const result = /* @__PURE__ */ describeFlag<FlagResult>({
  fromClient: (client, ...reading) => client.getFeatureFlagResult(...reading),
  fromResult: (bootstrapped) => bootstrapped,
});

/** Value, variant and payload of a flag at once; undefined while it is unknown. */
export function useFeatureFlagResult(flag: FlagKey): FlagResult | undefined {
  return useFlagStore(result, flag);
}
