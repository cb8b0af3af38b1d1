import type { FlagMembers } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import { createInputMembers } from './flag-input.ts';
import { createFlagListeners } from './flag-listeners.ts';
import { createFlagRequest } from './flag-request.ts';
import { documentOf } from './flag-snapshot.ts';
import { createFlagState } from './flag-state.ts';
import { followSignals } from './follow-signals.ts';
import type { Overrides } from './override-flags.ts';
import { createReadMembers } from './read-flags.ts';
import { createCallReport } from './report-flag-call.ts';

type OfFlags = Omit<FlagMembers, 'getEarlyAccessFeatures' | 'updateEarlyAccessFeatureEnrollment'>;

/**
 * Feature flags: known at once where they can be, asked for when the visitor or what is known of them changes.
 * @param overrides not part of every build
 */
export function createFlags(core: Core, overrides?: Overrides): OfFlags {
  const state = createFlagState(core);
  const current = () => overrides?.apply(state.known) ?? state.known;
  const values = () => current().$enabled_feature_flags ?? {};
  const listeners = createFlagListeners(core, values);
  const request = createFlagRequest(core, (answer) => {
    if (state.receive(answer)) listeners.tell(answer.status !== 200);
    else core.log.warn('The limit of flag requests is reached: flags stay as they were');
  });
  const absent = () => core.log.debug('posthog.override is not part of this build');
  const calls = createCallReport(core);
  const reading = createReadMembers(core, { state, current, calls });

  state.begin();
  core.addProperties(state.eventProperties);
  followSignals(core, { state, request, calls, read: reading.getFeatureFlagResult });

  return {
    ...reading,
    ...createInputMembers(core, request.reload),
    onFeatureFlags(listener) {
      if (state.isLoaded) listeners.call(listener);
      return listeners.add(listener);
    },
    reloadFeatureFlags: request.reload,
    updateFlags(flags, payloads, { merge } = {}) {
      state.learn(documentOf(flags, payloads, merge));
      listeners.tell();
    },
    featureFlags: {
      get hasLoadedFlags() {
        return state.isLoaded;
      },
      getFlags: () => Object.keys(values()),
      getFlagVariants: values,
      ...(overrides?.members(listeners.tell) ?? { override: absent, overrideFeatureFlags: absent }),
    },
  };
}
