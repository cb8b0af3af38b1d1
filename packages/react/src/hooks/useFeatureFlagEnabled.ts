import type { FlagKey } from '@millrace/browser';
import { describeFlag } from './describe-flag.ts';
import { useFlagStore } from './useFlagStore.ts';

const enabled = /* @__PURE__ */ describeFlag({
  fromClient: (client, ...reading) => client.isFeatureEnabled(...reading),
  fromResult: (result) => result.enabled,
});

/** Whether the flag is on for this person; while that is unknown, `defaultValue`. */
export function useFeatureFlagEnabled(flag: FlagKey): boolean | undefined;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue: boolean): boolean;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue?: boolean): boolean | undefined {
  return useFlagStore(enabled, flag) ?? defaultValue;
}
