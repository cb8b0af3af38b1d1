import type { FlagKey } from '@millrace/browser';
import type { FlagView } from './flag-store.ts';
import { useFlag } from './useFlag.ts';

const view: FlagView<boolean> = {
  fromClient: (client, flag, quiet) => client.isFeatureEnabled(flag, ...(quiet ? [quiet] : [])),
  part: 'featureFlags',
  fromBootstrap({ featureFlags }, flag) {
    const value = featureFlags?.[flag];
    return value === undefined ? undefined : Boolean(value);
  },
};

/** Whether the flag is on for this person; while that is unknown, `defaultValue`. */
export function useFeatureFlagEnabled(flag: FlagKey): boolean | undefined;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue: boolean): boolean;
export function useFeatureFlagEnabled(flag: FlagKey, defaultValue?: boolean): boolean | undefined {
  return useFlag(view, flag) ?? defaultValue;
}
