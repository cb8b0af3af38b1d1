import type { FlagKey, JsonValue } from '@millrace/browser';
import type { FlagView } from './flag-store.ts';
import { useFlag } from './useFlag.ts';

const view: FlagView<JsonValue> = {
  // Never captured: a payload says nothing of what the person was shown.
  fromClient: (client, flag) => client.getFeatureFlagResult(flag, { send_event: false })?.payload,
  part: 'featureFlagPayloads',
  fromBootstrap: ({ featureFlagPayloads }, flag) => featureFlagPayloads?.[flag],
};

/** The payload of the value this person gets. */
export function useFeatureFlagPayload(flag: FlagKey): JsonValue | undefined {
  return useFlag(view, flag);
}
