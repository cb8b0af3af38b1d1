import type { FlagKey, JsonValue } from '@millrace/browser';
import { describeFlag } from './describe-flag.ts';
import { useFlagStore } from './useFlagStore.ts';

const payload = /* @__PURE__ */ describeFlag<JsonValue>({
  // Never captured: a payload does not say what the person was shown.
  fromClient: (client, flag) => client.getFeatureFlagResult(flag, { send_event: false })?.payload,
  fromResult: (result) => result.payload,
  part: 'featureFlagPayloads',
});

/** The payload of the value this person gets. */
export function useFeatureFlagPayload(flag: FlagKey): JsonValue | undefined {
  return useFlagStore(payload, flag);
}
